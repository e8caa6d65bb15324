// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "compile/casts.h"
#include "compile/passes.h"
#include "compile/types.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

bool is_white(const Node& node) {
  return ops::traits_of(node).precision == ops::PrecisionClass::white;
}

class Assigner {
 public:
  Assigner(const Precision& precision, const Graph& sample, Graph& graph)
      : precision_(precision), sample_(sample), graph_(graph), known_(sample.values.size()) {}

  Status run() {
    const std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (const Node& node : nodes) {
      const DType type = choose(node);
      if (type != DType::undefined) {
        add_short(node, type);
      } else if (rounds_inputs(node)) {
        add_rounded(node);
      } else {
        for (ValueId id : node.inputs) need_full(id);
        graph_.nodes.push_back(node);
      }
    }
    for (ValueId id : graph_.outputs) need_full(id);
    return graph_.verify();
  }

 private:
  const graph::Value& sample_of(ValueId id) const {
    return sample_.values[static_cast<size_t>(id)];
  }
  bool is_f32(ValueId id) const {
    return id != kNoValue && static_cast<size_t>(id) < known_ && sample_of(id).dtype == DType::f32;
  }

  bool is_kept(const Node& node) const {
    return precision_.kept_nodes.contains(node.name) || precision_.kept_ops.contains(node.op);
  }

  // The short type of the node, or undefined: it stays as it is.
  DType choose(const Node& node) const {
    const DType wanted = wanted_type(node);
    if (wanted != DType::f16 && wanted != DType::bf16) return DType::undefined;
    return can_compute(node, wanted) ? wanted : DType::undefined;
  }

  DType wanted_type(const Node& node) const {
    if (ops::traits_of(node).precision == ops::PrecisionClass::fixed) return DType::undefined;
    if (const auto found = precision_.type_of_node.find(node.name);
        found != precision_.type_of_node.end()) {
      return found->second;
    }
    if (is_kept(node)) return DType::undefined;
    if (const auto found = precision_.type_of_op.find(node.op);
        found != precision_.type_of_op.end()) {
      return found->second;
    }
    switch (precision_.mode) {
      case PrecisionMode::origin:
      case PrecisionMode::cube_fp16:
        return DType::undefined;
      case PrecisionMode::fp16:
        return DType::f16;
      case PrecisionMode::allow_fp16:
        return is_white(node) ? DType::f16 : DType::undefined;
      case PrecisionMode::mixed_float16:
        return by_list(node, DType::f16);
      case PrecisionMode::mixed_bfloat16:
        return by_list(node, DType::bf16);
    }
    return DType::undefined;
  }

  DType by_list(const Node& node, DType type) const {
    const MixList list = list_of(precision_, node);
    if (list == MixList::white) return type;
    if (list == MixList::black) return DType::undefined;
    // Gray: the type of the producers; constants follow.
    bool any = false;
    for (ValueId id : node.inputs) {
      if (!is_f32(id) || sample_of(id).constant) continue;
      if (!short_of_.contains({id, type})) return DType::undefined;
      any = true;
    }
    return any ? type : DType::undefined;
  }

  // Whether operand `index` may have either type.
  static bool is_free(const std::vector<ops::FormalOperand>& formals, size_t index,
                      const ops::OpSchema& schema, DType type) {
    const ops::FormalOperand* formal = ops::formal_at(formals, index);
    if (!formal) return false;
    for (const ops::TypeVar& var : schema.types) {
      if (var.name == formal->type_var) return var.types.has(type) && var.types.has(DType::f32);
    }
    return false;
  }

  // Operands of the node in `type`, where its schema leaves the choice.
  std::vector<ops::Operand> short_operands(const Node& node, const ops::OpSchema& schema,
                                           DType type, bool& any) const {
    std::vector<ops::Operand> operands;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      operands.push_back(ops::Operand::of(sample_, node.inputs[i]));
      if (!is_f32(node.inputs[i]) || !is_free(schema.inputs, i, schema, type)) continue;
      any = true;
      operands.back().dtype = type;
      operands.back().is_constant = false;  // its bytes are float32 still
      operands.back().constant = {};
    }
    return operands;
  }

  bool can_compute(const Node& node, DType type) const {
    const auto schema = ops::Registry::instance().find(node);
    if (!schema.ok()) return false;
    bool any = false;
    auto context = ops::infer(node, short_operands(node, **schema, type, any));
    if (!any || !context.ok()) return false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      // Only results that were float32 may change their type.
      if (node.outputs[i] == kNoValue || is_f32(node.outputs[i])) continue;
      if (context->outputs[i].dtype != sample_of(node.outputs[i]).dtype) return false;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || context->outputs[i].has_shape) continue;
      context->outputs[i].shape = sample_of(node.outputs[i]).shape;
      context->outputs[i].has_shape = sample_of(node.outputs[i]).has_shape;
    }
    return ops::choose_kernel(*context).ok();
  }

  // The value in the short type, made by a cast, or as a constant, when it is not there yet.
  ValueId need_short(ValueId id, DType type) {
    const auto found = short_of_.find({id, type});
    if (found != short_of_.end()) return found->second;
    ValueId made;
    if (graph_.values[static_cast<size_t>(id)].constant) {
      made = convert_constant(graph_, id, type, precision_.clip_weights);
    } else {
      need_full(id);
      made = add_typed(graph_, id, type);
      graph_.nodes.push_back(cast_node(graph_, id, made));
    }
    short_of_[{id, type}] = made;
    return made;
  }

  // The value as the model has it, made by a cast when only the short one is there.
  void need_full(ValueId id) {
    const auto found = only_short_.find(id);
    if (found == only_short_.end()) return;
    graph_.nodes.push_back(cast_node(graph_, found->second, id));
    only_short_.erase(found);
  }

  void add_short(const Node& node, DType type) {
    const ops::OpSchema& schema = **ops::Registry::instance().find(node);
    Node changed = node;
    bool any = false;
    const auto context = ops::infer(node, short_operands(node, schema, type, any));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (is_f32(node.inputs[i]) && is_free(schema.inputs, i, schema, type)) {
        changed.inputs[i] = need_short(node.inputs[i], type);
      } else {
        need_full(node.inputs[i]);
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId out = node.outputs[i];
      if (!is_f32(out) || context->outputs[i].dtype != type) continue;
      changed.outputs[i] = add_typed(graph_, out, type);
      short_of_[{out, type}] = changed.outputs[i];
      only_short_[out] = changed.outputs[i];
    }
    graph_.nodes.push_back(std::move(changed));
  }

  bool rounds_inputs(const Node& node) const {
    return precision_.mode == PrecisionMode::cube_fp16 && is_white(node) && !is_kept(node) &&
           is_f32(node.inputs[0]);
  }

  // cube_fp16in_fp32out: what a convolution or product takes goes through float16.
  void add_rounded(Node node) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      ValueId& id = node.inputs[i];
      need_full(id);
      if (i < 2 && is_f32(id)) id = rounded(id);  // a bias is added in float32
    }
    graph_.nodes.push_back(std::move(node));
  }

  ValueId rounded(ValueId id) {
    const auto [place, is_new] = rounded_.try_emplace(id, kNoValue);
    if (!is_new) return place->second;
    if (graph_.values[static_cast<size_t>(id)].constant) {
      place->second = round_constant(graph_, id, precision_.clip_weights);
    } else {
      const ValueId half = need_short(id, DType::f16);
      place->second = add_typed(graph_, half, DType::f32);
      graph_.nodes.push_back(cast_node(graph_, half, place->second));
    }
    return place->second;
  }

  const Precision& precision_;
  const Graph& sample_;
  Graph& graph_;
  const size_t known_;  // values that the sample has; the rest were made here
  std::map<std::pair<ValueId, DType>, ValueId> short_of_;
  std::map<ValueId, ValueId> only_short_;  // float32 values nobody has made yet
  std::map<ValueId, ValueId> rounded_;
};

}  // namespace

Status check_names(const Precision& precision, const Graph& graph) {
  std::set<std::string_view> names;
  for (const Node& node : graph.nodes) names.insert(node.name);
  for (const std::string& name : precision.kept_nodes) {
    if (!names.contains(name))
      return fail(Code::not_found, "--keep_dtype: the model has no operator '{}'", name);
  }
  for (const auto& [name, type] : precision.type_of_node) {
    if (!names.contains(name))
      return fail(Code::not_found, "--customize_dtypes: the model has no operator '{}'", name);
  }
  return {};
}

Status assign_precision(const Precision& precision, const Graph& sample, Graph& graph) {
  return Assigner(precision, sample, graph).run();
}

}  // namespace anynpu::compile
