// SPDX-License-Identifier: Apache-2.0
// Fusions that a plan for the CPU makes when a model is loaded. The graph of the model keeps the
// operators apart: dumps show each of them, and other back ends fuse in their own way. All need
// shapes and end with verify().
#pragma once

#include "graph/graph.h"

namespace anynpu::compile {

// Quantised networks: DequantizeLinear, an operator and QuantizeLinear become an operator on bytes
// where it has a fast kernel. Before join_elementwise().
Status join_quantized(graph::Graph& graph);

// DequantizeLinear of constants in front of Gemm and MatMul: the weights stay packed in memory
// (WeightOnlyMatMul). After join_quantized(), which has the first choice.
Status join_weight_only(graph::Graph& graph);

// Computes DequantizeLinear of constants, which models keep because it makes their files smaller,
// and a Transpose behind it. For every target.
bool has_quantized_weights(const graph::Graph& graph);
Status unpack_weights(graph::Graph& graph);

// Networks in float16 (in bfloat16, if the processor has no instructions for it) compute in
// float32: constants are widened once, and casts remain where 16-bit floats enter and leave. Only
// for networks with a matrix product or convolution.
Status widen_shorts(graph::Graph& graph);

// Chains and trees of element-wise operators become FusedElementwise of domain "anynpu": one pass
// over memory.
Status join_elementwise(graph::Graph& graph);

// A FusedElementwise that only reads the result of a Conv, Gemm or MatMul becomes steps of it
// (ops/elements/epilogue.h). After join_elementwise().
Status join_epilogues(graph::Graph& graph);

// Whether steps may follow the node as its epilogue.
bool has_epilogue_form(const graph::Node& node);

}  // namespace anynpu::compile
