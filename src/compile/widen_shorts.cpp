// SPDX-License-Identifier: Apache-2.0
// On processors without float16 arithmetic (and without bfloat16, likewise) each operator would
// convert its inputs to float32 and its results back. Instead, the tensors between operators become
// float32, constants are converted once, and casts remain where 16-bit floats enter and leave. With
// fewer roundings, results are closer to those of the model in float32.
#include <algorithm>
#include <map>

#include "compile/casts.h"
#include "compile/plan_fusion.h"
#include "graph/flow.h"
#include "graph/tensor_value.h"
#include "ops/registry.h"
#include "ops/simd/tile_bf16.h"
#include "tensor/half_arrays.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

class Widener {
 public:
  Widener(graph::Graph& graph, DType type) : graph_(graph), type_(type) {}

  Status run() {
    find_nodes();
    if (!worth_it_) return {};
    for (size_t n = 0; n < wide_.size(); ++n) {
      if (!wide_[n]) continue;
      for (ValueId& id : graph_.nodes[n].inputs) {
        if (id != kNoValue && is_short(id)) id = widened(id);
      }
      for (ValueId& id : graph_.nodes[n].outputs) {
        if (id != kNoValue && is_short(id)) id = narrowed_later(id);
      }
    }
    // Readers that stay short and outputs of the graph get the rounded value.
    for (auto& node : casts_) graph_.nodes.push_back(std::move(node));
    drop_unread();
    return graph_.verify();
  }

 private:
  Value& value(ValueId id) { return graph_.values[static_cast<size_t>(id)]; }
  bool is_short(ValueId id) const { return graph_.values[static_cast<size_t>(id)].dtype == type_; }

  ops::Operand wide_operand(ValueId id) {
    ops::Operand operand = ops::Operand::of(graph_, id);
    if (id == kNoValue || operand.dtype != type_) return operand;
    if (value(id).constant) return ops::Operand::of(graph_, widened(id));
    operand.dtype = DType::f32;
    return operand;
  }

  // Nodes that compute the same in float32.
  void find_nodes() {
    wide_.assign(graph_.nodes.size(), false);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      for (ValueId id : node.outputs) maker_[id] = n;
      const ops::OpTraits traits = ops::traits_of(node);
      if (graph::has_subgraphs(node) || traits.precision == ops::PrecisionClass::fixed) continue;
      const auto has_short = [&](const std::vector<ValueId>& ids) {
        return std::any_of(ids.begin(), ids.end(),
                           [&](ValueId id) { return id != kNoValue && is_short(id); });
      };
      if (!has_short(node.inputs)) continue;
      std::vector<ops::Operand> operands;
      for (ValueId id : node.inputs) operands.push_back(wide_operand(id));
      const auto context = ops::infer(node, std::move(operands));
      if (!context.ok()) continue;
      bool fits = true;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] == kNoValue) continue;
        const DType before = value(node.outputs[i]).dtype, now = context->outputs[i].dtype;
        fits = fits && now == (before == type_ ? DType::f32 : before);
      }
      if (!fits) continue;
      wide_[n] = true;
      worth_it_ =
          worth_it_ || (traits.precision == ops::PrecisionClass::white && has_short(node.outputs));
    }
  }

  // The float32 of a short value.
  ValueId widened(ValueId id) {
    const auto known = wide_of_.find(id);
    if (known != wide_of_.end()) return known->second;
    Value fresh = value(id);
    fresh.name += "/float32";
    fresh.dtype = DType::f32;
    if (fresh.constant) {
      const auto bytes = fresh.constant->bytes;
      std::vector<float> elements(bytes.size() / 2);
      widen(type_, bytes.data(), elements.data(), elements.size());
      fresh.constant = graph::constant_of(std::move(elements));
    }
    const ValueId made = graph_.add_value(std::move(fresh));
    wide_of_[id] = made;
    if (!value(id).constant && !made_wide(id)) casts_.push_back(cast_node(graph_, id, made));
    return made;
  }

  // What a wide node makes in place of `id`, which is rounded from it.
  ValueId narrowed_later(ValueId id) {
    const ValueId made = widened(id);
    casts_.push_back(cast_node(graph_, made, id));
    return made;
  }

  bool made_wide(ValueId id) const {
    const auto maker = maker_.find(id);
    return maker != maker_.end() && wide_[maker->second];
  }

  // Casts whose result nobody reads.
  void drop_unread() {
    std::vector<bool> read(graph_.values.size(), false);
    for (ValueId id : graph_.outputs) read[static_cast<size_t>(id)] = true;
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.inputs) {
        if (id != kNoValue) read[static_cast<size_t>(id)] = true;
      }
    }
    std::erase_if(graph_.nodes, [&](const Node& node) {
      return node.op == "Cast" && node.name.ends_with("/cast") &&
             !read[static_cast<size_t>(node.outputs[0])];
    });
  }

  graph::Graph& graph_;
  const DType type_;
  std::vector<bool> wide_;  // nodes
  bool worth_it_ = false;   // one of them is a product
  std::map<ValueId, size_t> maker_;
  std::map<ValueId, ValueId> wide_of_;
  std::vector<Node> casts_;
};

}  // namespace

Status widen_shorts(graph::Graph& graph) {
  const bool any = std::any_of(graph.values.begin(), graph.values.end(), [](const Value& value) {
    return value.dtype == DType::f16 || value.dtype == DType::bf16;
  });
  if (!any) return {};
  ANYNPU_TRY(Widener(graph, DType::f16).run());
  if (ops::check_bf16().ok()) return {};
  return Widener(graph, DType::bf16).run();
}

}  // namespace anynpu::compile
