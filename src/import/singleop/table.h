// SPDX-License-Identifier: Apache-2.0
// The table from vendor operator names to ours (import/README.md describes its columns).
// docs/operator_names.md is generated from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "import/singleop/op.h"

namespace anynpu::singleop {

class Builder;

struct VendorOp {
  std::string_view name;              // the vendor's: "ArgMaxD"
  std::string_view becomes;           // operators with a schema: "ArgMax", "Transpose + MatMul"
  int64_t opset = 0;                  // of `becomes` when it is one operator with the same operands
  void (*lower)(Builder&) = nullptr;  // else: builds the nodes
  std::string_view in_models = {};    // the ONNX operator it is in a model; empty: `becomes`
  // Inputs that the operator writes, a digit each: output i is the new value of input writes[i].
  // Outputs of these that a description leaves out are written to the memory of the inputs.
  std::string_view writes = {};
};

// All of them, sorted by name.
std::span<const VendorOp> vendor_ops();
// Whether `becomes` rounds more than once on the way, so that 16-bit floats are computed as float32
// and rounded at the end: a sum of rounded products is not within a unit of the last place.
bool rounds_often(const VendorOp& op);
// Whether the shape of an output depends on the data: an operator of `becomes` has SizedBy::data.
bool sized_by_values(const VendorOp& op);
// Null when there is none.
const VendorOp* find_vendor_op(std::string_view name);
// The ONNX name of an operator that the vendor calls `name` (Conv2D -> Conv), as the options of atc
// that list operators use it; `name` itself when there is no other.
std::string onnx_name(std::string_view name);

// The graph of one operator; its inputs are those of `op` that are neither left out nor constant,
// in order. Fails with unsupported_op for a name that is not in the table, and for tensors and
// attributes that do not fit.
Result<graph::Graph> build_graph(const SingleOp& op);

// Types and shapes of the outputs, regardless of what `op` says about them. Constant inputs help
// where a shape depends on values; an extent that still does is -1, with its possible range.
Result<std::vector<TensorDesc>> infer_outputs(SingleOp op);

}  // namespace anynpu::singleop
