// SPDX-License-Identifier: Apache-2.0
// Pattern matching for passes: looks backwards from a node for operators of the default domain and
// rewrites what was found. Producers and users are kept up to date on every rewrite, so that a pass
// stays linear in the size of the graph.
#pragma once

#include <optional>
#include <string_view>

#include "compile/graph_edit.h"
#include "compile/passes.h"

namespace anynpu::compile {

class Pattern {
 public:
  explicit Pattern(graph::Graph& graph);

  const graph::Value& value(graph::ValueId id) const {
    return graph_.values[static_cast<size_t>(id)];
  }
  bool is_output(graph::ValueId id) const { return is_output_[static_cast<size_t>(id)]; }
  // The one node that uses `id`, or -1: none, several, or an output of the graph.
  int only_user(graph::ValueId id) const;

  // The node that produces `id`, or null; how often nodes read it.
  const graph::Node* maker(graph::ValueId id) const;
  int64_t uses(graph::ValueId id) const { return uses_[static_cast<size_t>(id)].count; }
  // The elements of a constant of 64-bit integers; empty for others.
  std::vector<int64_t> integers(graph::ValueId id) const;

  // The node that produces `id` if it is an `op` of the default domain with one output; else null.
  const graph::Node* made_by(graph::ValueId id, std::string_view op) const;
  // The same, and nothing but one node reads `id`: the node may be absorbed.
  const graph::Node* absorbed(graph::ValueId id, std::string_view op) const;
  // The same for an operator of any name and domain.
  const graph::Node* absorbed(graph::ValueId id) const;
  // The one node that reads `id` when it is an `op` of the default domain; else null.
  const graph::Node* next(graph::ValueId id, std::string_view op) const;

  // `id` is a constant of one f32, f16 or bf16 element.
  std::optional<float> scalar(graph::ValueId id) const;
  // The operand of a two-operand node beside the scalar constant, with that constant.
  struct WithScalar {
    graph::ValueId other;
    float scalar;
  };
  std::optional<WithScalar> with_scalar(const graph::Node& node) const;
  // A product or quotient with a scalar constant, as a factor.
  std::optional<WithScalar> scaled(const graph::Node& node) const;

  bool is_f32(graph::ValueId id) const { return value(id).dtype == DType::f32; }
  // Types in which operators may be fused. The short ones are then rounded once instead of after
  // each operator, which is closer to the model.
  bool fuses(graph::ValueId id) const {
    const DType type = value(id).dtype;
    return type == DType::f32 || type == DType::f16 || type == DType::bf16;
  }

  // Replaces the producer of `output` by `node`, which gets its name, and removes all nodes that
  // are no longer used. Removed nodes stay in the list with an empty `op` until the sweep ends.
  void replace_producer(graph::ValueId output, graph::Node node);
  // The same, but `node` keeps its own name, which a removed node had.
  void absorb(graph::ValueId output, graph::Node node);

  // Call it for every value that a pass adds to the graph.
  graph::ValueId adopt(graph::ValueId id);
  // Replaces two nodes at once: the producer of `first` by `one` and the producer of `second` by
  // `two`. `first` is not used any more. Both nodes have their outputs set.
  void swap_over(graph::ValueId first, graph::Node one, graph::ValueId second, graph::Node two);

  // Calls visit(node) for every node in order, and starts again as long as one returned true (it
  // rewrote something): a rewrite may let an earlier node match. Ends with verify().
  template <typename Visit>
  Status sweep(Visit&& visit) {
    for (bool again = true; again;) {
      again = false;
      for (size_t n = 0; n < graph_.nodes.size(); ++n) {
        while (is_there(n) && visit(graph_.nodes[n])) again = true;
      }
    }
    return finish();
  }

 private:
  // How often a value is used, and the sum of the users' indices: the one user when it is one.
  struct Uses {
    int64_t count = 0, sum = 0;
  };
  bool is_there(size_t n) const { return !graph_.nodes[n].op.empty(); }
  void index();
  void count_inputs(size_t n, int64_t sign);
  void put(size_t n, graph::Node node);
  void drop_unused(std::vector<graph::ValueId> ids);
  Status finish();

  graph::Graph& graph_;
  std::vector<int> producer_;  // node index, or -1
  std::vector<Uses> uses_;
  std::vector<bool> is_output_;
};

// A constant of one f16 or bf16 element.
bool read_short(const graph::Graph& graph, graph::ValueId id, float& value);

// Whether `a` is `b` as a constant of `type` holds it.
bool about(float a, double b, DType type);

}  // namespace anynpu::compile
