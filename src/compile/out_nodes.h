// SPDX-License-Identifier: Apache-2.0
// The outputs of the model: the grammar of --out_nodes and --output_type.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::compile {

// "node1:0;node2:1", or names of tensors "output1;output2" (Caffe: of tops). Empty text: {}.
Result<std::vector<std::string>> parse_out_nodes(std::string_view text);

// Makes these the outputs of the graph, in this order. An entry "a:0" is output 0 of node a, or the
// tensor "a:0" when there is no such node; a mix of both kinds, repeated entries and unknown names
// are refused.
Status select_outputs(const std::vector<std::string>& wanted, graph::Graph& graph);

struct OutputTypes {
  DType all = DType::undefined;                          // undefined: as they are
  std::vector<std::pair<std::string, DType>> of_output;  // "node1:0" -> type
  bool any() const { return all != DType::undefined || !of_output.empty(); }
};

// "FP16", or "node1:0:FP16;node2:1:FP32". Empty text: as they are.
Result<OutputTypes> parse_output_types(std::string_view text);

// "FP32", "INT8", ...; undefined when there is no such type.
DType parse_type_name(std::string_view name);

// The type of each output, undefined where it stays. `names` are those of output_names(). Fails
// when of_output names an output that is not there.
Result<std::vector<DType>> fit_output_types(const OutputTypes& types,
                                            const std::vector<std::string>& names);

}  // namespace anynpu::compile
