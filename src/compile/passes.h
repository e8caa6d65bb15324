// SPDX-License-Identifier: Apache-2.0
// The passes, one file each, named after it. Each leaves a graph that verifies. passes.def has the
// order, which of them need shapes, and which can be switched off.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace anynpu::compile {

// True for nodes that a pass must not change; empty: none.
using NodeFilter = std::function<bool(const graph::Node&)>;

// Infers types and shapes of every value, in topological order; nodes with constant inputs are
// folded on the way (shape arithmetic needs it), within a budget (fold_budget.h). An If with a
// constant condition is replaced by its branch. What is known only at run time stays unknown:
// has_shape is false, or an extent is -1. Subgraphs get all passes but
// `passes_off`.
Status infer_and_fold(graph::Graph& graph, const std::vector<std::string>& passes_off = {});
// The same for a subgraph, with the fold budget of the outer graph.
class FoldBudget;
Status infer_and_fold(graph::Graph& graph, const std::vector<std::string>& passes_off,
                      FoldBudget& budget);

// Folds operators that read or produce strings (ops/text/text.h); fails if strings are left at run
// time.
Status fold_texts(graph::Graph& graph, const std::vector<std::string>& passes_off);

// Removes Identity, and Dropout in inference mode.
Status remove_identities(graph::Graph& graph);

// Folds BatchNormalization with constant parameters, and multiplications and additions of a scalar
// or per-channel constant, into the preceding Conv, except for nodes that `keep` names.
Status fold_batch_norm(graph::Graph& graph, const NodeFilter& keep = {});

// The same behind MatMul, Gemm and ConvTranspose. Needs shapes.
Status fold_affine(graph::Graph& graph);

// Conv + Add (of the same shape) + Relu/Clip, and Gemm + Relu/Clip, into the fused operators of
// domain "anynpu". Needs shapes.
Status fuse_conv(graph::Graph& graph);

// Fuses the expand (optional), depthwise and project convolutions of a bf16 bottleneck, if nothing
// else reads the tensors between them, into FusedBottleneck of domain "anynpu". After fuse_conv().
// Needs shapes.
Status fuse_bottleneck(graph::Graph& graph);

// Layer normalisation, Gelu, Swish, Softmax and multi-head attention written as small operators
// become LayerNormalization, Gelu, Swish, Softmax and FusedAttention. Transpose, scale, additions
// and activation around a MatMul become part of it (FusedMatMul). Need shapes.
Status fuse_layer_norm(graph::Graph& graph);
Status fuse_gelu(graph::Graph& graph);
Status fuse_swish(graph::Graph& graph);
Status fuse_softmax(graph::Graph& graph);
Status fuse_attention(graph::Graph& graph);
Status fuse_matmul(graph::Graph& graph);

// Removes Transposes that cancel out or move nothing, and moves others past element-wise operators,
// where they may meet one that cancels them. Results are bitwise equal. Needs shapes.
Status remove_transposes(graph::Graph& graph);

// Removes nodes and values that no output depends on. Inputs stay.
Status remove_dead(graph::Graph& graph);

// For a value of unknown shape: looks for a shape that the model states for a value that must have
// the same one (through element-wise operators of one tensor, or of such tensors and scalars), and
// writes it to all of them. False when there is none. The run checks it.
bool find_stated_shape(graph::Graph& graph, graph::ValueId id);

}  // namespace anynpu::compile
