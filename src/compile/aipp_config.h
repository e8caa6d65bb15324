// SPDX-License-Identifier: Apache-2.0
// The file of --insert_op_conf: one or more `aipp_op { ... }` in protobuf text form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "om/model.h"

namespace anynpu::compile {

struct AippConfig {
  int64_t input_rank = 0;  // which input of the model
  std::string input_name;  // overrides input_rank
  bool dynamic = false;
  int64_t max_source_bytes = 0;  // dynamic
  om::Aipp settings;             // `input` is set by fit_aipp
  std::string where;             // its aipp_op in the file, for messages
};

// Parses the text; errors (unknown fields, wrong values, missing fields) have line and column in
// the file `name`. Static and dynamic AIPP in one file are refused.
Result<std::vector<AippConfig>> parse_aipp(std::string_view text, std::string_view name = {});
Result<std::vector<AippConfig>> read_aipp_file(const std::string& path);

struct Options;

// The configurations of `options` for the inputs of `graph`, which is not specialised yet. Refuses
// inputs that are not images (N, C, H, W), inputs of --input_fp16_nodes and what gears exclude.
Result<std::vector<om::Aipp>> fit_aipp(const Options& options, const graph::Graph& graph,
                                       bool fixed);

// Inserts an Aipp node after each input that has settings; the shapes of the inputs are known.
// Parameters of dynamic AIPP become additional inputs of the graph.
Status insert_aipp(const std::vector<om::Aipp>& settings, graph::Graph& graph);

// The shape of the model's input after AIPP, for pictures of shape N, H, W, C.
Shape behind_aipp(const om::Aipp& settings, const Shape& picture);

// What the description says about pictures: `shapes` are those of the inputs in the source model.
void describe_aipp(const std::vector<om::Aipp>& settings, const std::vector<Shape>& shapes,
                   om::Meta& meta);

}  // namespace anynpu::compile
