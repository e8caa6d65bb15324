// SPDX-License-Identifier: Apache-2.0
// The precision of the operators of a model: the grammars of --precision_mode,
// --precision_mode_v2, --modify_mixlist, --keep_dtype and --customize_dtypes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"
#include "tensor/dtype.h"

namespace anynpu::compile {

enum class PrecisionMode {
  origin,         // the types of the model
  fp16,           // float16 wherever an operator has it
  cube_fp16,      // convolutions and products take float16 and return float32
  allow_fp16,     // convolutions and products in float16, the rest as it is
  mixed_float16,  // by the lists below
  mixed_bfloat16,
};

// White: computed in the short type. Gray: as the producers. Black: as the model says.
enum class MixList { white, gray, black };

struct Precision {
  PrecisionMode mode = PrecisionMode::origin;
  std::map<std::string, MixList> moved;       // operators that --modify_mixlist moves
  std::set<std::string> kept_nodes;           // --keep_dtype: names of nodes
  std::set<std::string> kept_ops;             // and of operators
  std::map<std::string, DType> type_of_node;  // --customize_dtypes
  std::map<std::string, DType> type_of_op;    // the same for all nodes of an operator
  bool clip_weights = true;                   // --is_weight_clip

  bool any() const {
    return mode != PrecisionMode::origin || !type_of_node.empty() || !type_of_op.empty();
  }
};

Result<PrecisionMode> parse_precision_mode(std::string_view text);
Result<PrecisionMode> parse_precision_mode_v2(std::string_view text);

// Each reads a file's text into `precision`; mistakes are named with their line. Operators may be
// named as ONNX or as the card does (Conv2D).
Status parse_mix_list(std::string_view json, Precision& precision);
Status parse_keep_dtype(std::string_view text, Precision& precision);
Status parse_custom_dtypes(std::string_view text, Precision& precision);

// The list of an operator in a mixed mode, with what --modify_mixlist moved.
MixList list_of(const Precision& precision, const graph::Node& node);
// Whether a list fixes the type of this operator, regardless of its neighbours.
bool has_own_type(const Precision& precision, const std::string& node, const std::string& op);

}  // namespace anynpu::compile
