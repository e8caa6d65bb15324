// SPDX-License-Identifier: Apache-2.0
// The passes, one file each, named after it. Each leaves a graph that verifies. passes.def has the
// order, which of them need shapes, and which can be switched off.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace anynpu::compile {

// Answers true for nodes that a pass leaves as they are; empty: for none.
using NodeFilter = std::function<bool(const graph::Node&)>;

// Types and shapes of every value, in topological order; nodes whose inputs are all constants are
// evaluated on the way (shape arithmetic needs it), as far as the budget for it goes
// (fold_budget.h). An If whose condition is known becomes the nodes of its branch. What only a run
// can tell stays open: has_shape is false, or an extent is -1. Subgraphs get all passes but
// `passes_off`.
Status infer_and_fold(graph::Graph& graph, const std::vector<std::string>& passes_off = {});
// The same for a subgraph: what is folded comes out of the budget of the graph around it.
class FoldBudget;
Status infer_and_fold(graph::Graph& graph, const std::vector<std::string>& passes_off,
                      FoldBudget& budget);

// Works out what reads or makes strings (ops/text/text.h), where there is any; fails when strings
// are left for the run.
Status fold_texts(graph::Graph& graph, const std::vector<std::string>& passes_off);

// Identity, and Dropout as it stands in inference.
Status remove_identities(graph::Graph& graph);

// BatchNormalization with constant parameters, and products and sums with constants of one number
// for each channel or for all, into the Conv in front of them, but for nodes that `keep` names.
Status fold_batch_norm(graph::Graph& graph, const NodeFilter& keep = {});

// Conv + Add (of the same shape) + Relu/Clip, and Gemm + Relu/Clip, into the fused operators of
// domain "anynpu". Needs shapes.
Status fuse_conv(graph::Graph& graph);

// Convolutions of bf16 that expand channels (optional), filter each and project them, where nothing
// else sees what lies between them, into FusedBottleneck of domain "anynpu". After fuse_conv().
// Needs shapes.
Status fuse_bottleneck(graph::Graph& graph);

// Layer normalisation, Gelu, Swish and multi-head attention written in small operators become
// LayerNormalization, Gelu, Swish and FusedAttention. A Transpose, a factor, sums and an activation
// around a MatMul become part of it (FusedMatMul). Need shapes.
Status fuse_layer_norm(graph::Graph& graph);
Status fuse_gelu(graph::Graph& graph);
Status fuse_swish(graph::Graph& graph);
Status fuse_attention(graph::Graph& graph);
Status fuse_matmul(graph::Graph& graph);

// Removes Transposes that cancel each other or move nothing, and moves others behind element-wise
// operators, where they may meet one that cancels them. Results are the same bytes. Needs shapes.
Status remove_transposes(graph::Graph& graph);

// Nodes and values that no output of the graph needs. Inputs stay.
Status remove_dead(graph::Graph& graph);

// For a value whose shape only a run decides: looks for a shape that the model states for a value
// that must have the same one (through element-wise operators of one tensor, or of such tensors and
// scalars), and writes it to all of these. False when there is none. The run checks it.
bool find_stated_shape(graph::Graph& graph, graph::ValueId id);

}  // namespace anynpu::compile
