// SPDX-License-Identifier: Apache-2.0
// Looking backwards from a node for a pattern of operators of the default domain. Valid until the
// graph changes: a pass finds one pattern, rewrites it, and looks again with a new Pattern.
#pragma once

#include <optional>
#include <string_view>

#include "compile/passes.h"

namespace anynpu::compile {

class Pattern {
 public:
  explicit Pattern(const graph::Graph& graph) : graph_(graph), links_(graph) {}

  const graph::Value& value(graph::ValueId id) const {
    return graph_.values[static_cast<size_t>(id)];
  }
  const Links& links() const { return links_; }

  // The node that makes `id` when it is an `op` of the default domain with one output; else null.
  const graph::Node* made_by(graph::ValueId id, std::string_view op) const;
  // The same, and nothing but one node reads `id`: the node may be absorbed.
  const graph::Node* absorbed(graph::ValueId id, std::string_view op) const;
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
  // Types whose operators may become one: the short ones are then rounded once instead of after
  // each, closer to the model.
  bool fuses(graph::ValueId id) const {
    const DType type = value(id).dtype;
    return type == DType::f32 || type == DType::f16 || type == DType::bf16;
  }

 private:
  const graph::Graph& graph_;
  Links links_;
};

// Puts `node` where the node that makes `output` stands, and lets that one go; nodes that nobody
// needs any more are left to remove_dead.
void replace_producer(graph::Graph& graph, graph::ValueId output, graph::Node node);

// A constant of one f16 or bf16 element.
bool read_short(const graph::Graph& graph, graph::ValueId id, float& value);

// Whether `a` is `b` as a constant of `type` holds it.
bool about(float a, double b, DType type);

}  // namespace anynpu::compile
