// SPDX-License-Identifier: Apache-2.0
// The table from TensorFlow's operator names to ours (import/README.md describes its columns).
#pragma once

#include <span>
#include <string_view>

#include "import/tensorflow/builder.h"

namespace anynpu::tensorflow {

struct TfOp {
  std::string_view name;     // TensorFlow's: "FusedBatchNormV3"
  std::string_view becomes;  // operators with a schema: "Conv", "Mul + Add", "MaxPool, AveragePool"
  int64_t opset = 0;         // of `becomes` when it is one operator with the same operands
  void (*lower)(Builder&) = nullptr;  // adds the nodes
  // Names of its outputs when it has several, as links inside functions use them: "values indices".
  // One that is a list has the attribute with its length: "parts[num_split] rest".
  std::string_view outputs = {};
};

// All rows, by family.
std::span<const TfOp> tf_ops();
// The rows of table_math.cpp; tf_ops() includes them.
std::span<const TfOp> tf_math_ops();
// Null when there is none.
const TfOp* find_tf_op(std::string_view name);
// The most similar known name; empty when none is similar.
std::string_view nearest_tf_op(std::string_view name);

}  // namespace anynpu::tensorflow
