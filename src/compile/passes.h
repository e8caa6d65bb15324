// SPDX-License-Identifier: Apache-2.0
// The passes, one file each. Each leaves a graph that verifies; none needs shapes unless it says
// so.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/unique_names.h"

namespace anynpu::compile {

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
// for each channel or for all, into the Conv in front of them, but for those that `stays` names.
Status fold_batch_norms(graph::Graph& graph,
                        const std::function<bool(const graph::Node&)>& stays = {});

// Conv + Add (of the same shape) + Relu/Clip, and Gemm + Relu/Clip, into the fused operators of
// domain "anynpu". Needs shapes.
Status fuse_convs(graph::Graph& graph);

// Convolutions of bf16 that expand channels (optional), filter each and project them, where nothing
// else sees what lies between them, into FusedBottleneck of domain "anynpu". After fuse_convs().
// Needs shapes.
Status fuse_bottlenecks(graph::Graph& graph);

// Layer normalisation, Gelu, Swish and attention of several heads written out in small operators
// become LayerNormalization, Gelu, Swish and FusedAttention; what stands around a MatMul becomes
// part of it (FusedMatMul). Need shapes.
Status fuse_layer_norms(graph::Graph& graph);
Status fuse_gelus(graph::Graph& graph);
Status fuse_swishes(graph::Graph& graph);
Status fuse_attentions(graph::Graph& graph);
Status fuse_matmuls(graph::Graph& graph);

// Transposes that cancel, sink behind element-wise operators or move nothing. Results stay the same
// to the bit. Needs shapes.
Status remove_transposes(graph::Graph& graph);

// Nodes and values that no output of the graph needs. Inputs stay.
Status remove_dead(graph::Graph& graph);

// Who makes and who uses each value. Valid until the graph changes.
struct Links {
  explicit Links(const graph::Graph& graph);
  // The one node that uses `id`, or -1: none, several, or an output of the graph.
  int only_user(graph::ValueId id) const;

  std::vector<int> producer;            // node index, or -1
  std::vector<std::vector<int>> users;  // node indices, once per use
  std::vector<bool> is_output;          // of the graph
};

// For a value whose shape only a run decides: looks for a shape that the model states for a value
// that must have the same one (through element-wise operators of one tensor, or of such tensors and
// scalars), and writes it to all of these. False when there is none. The run checks it.
bool find_stated_shape(graph::Graph& graph, graph::ValueId id);

// The value's elements as T; empty when it is no constant of that type.
template <typename T>
std::vector<T> constant_elements(const graph::Graph& graph, graph::ValueId id);

// Names of new values that no value of the graph has. Looks at the graph once.
class NewNames {
 public:
  explicit NewNames(const graph::Graph& graph);
  // `wanted`, with a number behind it where that is taken.
  std::string take(const std::string& wanted) { return names_.take(wanted); }

 private:
  graph::UniqueNames names_{1};
};

// A new constant of f32, f64 or i64 elements; its name is taken from `names`, or found for this
// one.
template <typename T>
graph::ValueId add_constant(graph::Graph& graph, const std::string& name, const Shape& shape,
                            std::vector<T> elements, NewNames* names = nullptr);

}  // namespace anynpu::compile
