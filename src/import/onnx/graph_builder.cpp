// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/graph_builder.h"

#include <algorithm>
#include <utility>

#include "base/progress.h"
#include "graph/flow.h"
#include "import/onnx/upgrade.h"
#include "ops/registry.h"

namespace anynpu::onnx {

using graph::kNoValue;
using graph::Value;
using graph::ValueId;

namespace {

// Nodes of one model once its functions are in place.
constexpr size_t kMostNodes = size_t{1} << 17;

}  // namespace

GraphBuilder::GraphBuilder(ModelScope& model, GraphBuilder* parent)
    : model_(model),
      parent_(parent),
      depth_(parent ? parent->depth_ + 1 : 0),
      loops_(parent ? parent->loops_ : 0) {
  own_.opsets = parent ? parent->names_->opsets : &model.opsets;
  // A node of a subgraph inside a function refers to attributes of the function's call.
  if (parent) own_.attributes = parent->names_->attributes;
  if (parent) own_.depth = parent->names_->depth;
}

Result<graph::Graph> GraphBuilder::build(const WireField& graph_field) {
  if (depth_ > graph::kMostNestedGraphs || loops_ > graph::kMostNestedLoops) {
    return fail(Code::limit_exceeded,
                "graphs lie {} deep inside one another, {} of them in loops, at most {} and {} are "
                "taken; export the model with branches side by side, or with a loop unrolled",
                depth_, loops_, graph::kMostNestedGraphs, graph::kMostNestedLoops);
  }
  ANYNPU_TRY(read_fields(graph_field), "while reading the graph");
  ANYNPU_TRY(note_names());
  ANYNPU_TRY(add_initializers());
  ANYNPU_TRY(add_inputs());
  ANYNPU_TRY(add_nodes(nodes_));
  ANYNPU_TRY(add_declared(infos_));
  ANYNPU_TRY(add_outputs());
  if (!parent_) ANYNPU_TRY(report_unsupported());
  ANYNPU_TRY(settle_unsigned_fours());
  graph_.inputs.insert(graph_.inputs.end(), captured_.begin(), captured_.end());
  if (model_.unsupported.empty()) ANYNPU_TRY(graph_.verify());
  return std::move(graph_);
}

Status GraphBuilder::read_fields(const WireField& graph_field) {
  WireReader reader(graph_field);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        nodes_.push_back(field);
        break;
      case 2:
        ANYNPU_TRY(field.to(graph_.name));
        break;
      case 5:
        initializers_.push_back(field);
        break;
      case 11:
        inputs_.push_back(field);
        break;
      case 12:
        outputs_.push_back(field);
        break;
      case 13:
        infos_.push_back(field);
        break;
      case 15:
        sparse_initializers_.push_back(field);
        break;
      default:
        break;
    }
  }
  return reader.status();
}

Status GraphBuilder::add_initializers() {
  for (const WireField& field : initializers_) {
    ANYNPU_ASSIGN(Tensor tensor, read_tensor(field, model_.source),
                  "while reading the initializers");
    ANYNPU_TRY(add_initializer(std::move(tensor)));
  }
  for (const WireField& field : sparse_initializers_) {
    ANYNPU_ASSIGN(Tensor tensor, read_sparse_tensor(field, model_.source),
                  "while reading the initializers");
    ANYNPU_TRY(add_initializer(std::move(tensor)));
  }
  return {};
}

Status GraphBuilder::add_initializer(Tensor tensor) {
  if (tensor.name.empty() || own_.ids.contains(tensor.name)) {
    return fail(Code::corrupt_model,
                "initializer '{}' is there twice or has no name; expected unique names, export the "
                "model again",
                tensor.name);
  }
  produced_.insert(tensor.name);
  const ValueId id = value(tensor.name);
  Value& slot = graph_.values[static_cast<size_t>(id)];
  slot.dtype = tensor.dtype;
  slot.shape = std::move(tensor.shape);
  slot.has_shape = true;
  slot.constant = std::move(tensor.data);
  return {};
}

// Files before IR version 4 list their initializers among the inputs: those are weights, not
// inputs.
Status GraphBuilder::add_inputs() {
  for (const WireField& field : inputs_) {
    ANYNPU_ASSIGN(Value declared, read_value_info(field), "while reading the inputs of the graph");
    produced_.insert(declared.name);
    const ValueId id = value(declared.name);
    if (id == kNoValue)
      return fail(Code::corrupt_model, "an input of graph '{}' has no name; export the model again",
                  graph_.name);
    if (graph_.values[static_cast<size_t>(id)].constant) continue;
    if (!parent_ && declared.dtype == DType::undefined) {
      return fail(Code::corrupt_model, "input '{}' has no data type; export the model again",
                  declared.name);
    }
    if (!parent_ && declared.kind != graph::ValueKind::tensor) {
      return fail(
          Code::unsupported_feature,
          "input '{}' is a sequence or an optional, inputs of a model must be tensors; make it "
          "inside the graph",
          declared.name);
    }
    graph_.values[static_cast<size_t>(id)] = std::move(declared);
    graph_.inputs.push_back(id);
  }
  return {};
}

int64_t GraphBuilder::opset_of(const std::string& domain) const {
  for (const OpsetImport& opset : *names_->opsets) {
    if (opset.domain == domain) return opset.version;
  }
  return 0;
}

std::string GraphBuilder::unique_name(const NodeProto& proto) {
  const std::string base =
      names_->prefix +
      (proto.name.empty() ? format("{}_{}", proto.op, node_names_.size()) : proto.name);
  return node_names_.take(base);
}

Status GraphBuilder::add_nodes(const std::vector<WireField>& nodes) {
  Progress progress("reading", nodes.size(), "nodes");
  for (const WireField& field : nodes) {
    progress.step();
    ANYNPU_ASSIGN(const NodeProto proto, read_node(field), "while reading the nodes of '{}'",
                  graph_.name);
    ANYNPU_TRY(count_node());
    if (const Function* function = model_.functions.called_by(proto)) {
      ANYNPU_TRY(add_call(*function, proto), "in the function '{}'", function->op);
      continue;
    }
    const bool constant = proto.op == "Constant" && proto.domain.empty();
    ANYNPU_TRY(constant ? add_constant_node(proto) : add_node(proto));
  }
  return {};
}

Status GraphBuilder::count_node() {
  if (++model_.nodes <= kMostNodes) return {};
  return fail(Code::limit_exceeded,
              "the model has more than {} nodes once its functions are in place, at most that many "
              "are taken; split the model, or have its functions call one another less often",
              kMostNodes);
}

// Notes an operator that is not there, so that one run reports all.
bool GraphBuilder::check_supported(const NodeProto& proto, const std::string& name) {
  const int64_t opset = opset_of(proto.domain);
  const int64_t described = upgraded_opset(proto.op, proto.domain, opset);
  if (ops::Registry::instance().find(proto.op, proto.domain, described).ok()) return true;
  model_.unsupported.push_back(format("{} '{}' (domain '{}', opset {})", proto.op, name,
                                      proto.domain.empty() ? "ai.onnx" : proto.domain, opset));
  return false;
}

Status GraphBuilder::add_node(const NodeProto& proto) {
  graph::Node node;
  node.name = unique_name(proto);
  node.opset = opset_of(proto.domain);
  node.op = proto.op;
  node.domain = proto.domain;
  const bool supported = check_supported(proto, node.name);
  for (std::string_view name : proto.inputs) node.inputs.push_back(value(name));
  for (std::string_view name : proto.outputs) node.outputs.push_back(value(name));
  // Attributes of an operator that is not there are of no use and may be of any kind.
  if (supported) {
    ANYNPU_TRY(add_attributes(proto, node), "in node '{}' ({})", node.name, node.op);
  } else {
    ANYNPU_TRY(look_inside(proto));
  }
  ANYNPU_TRY(upgrade(node, graph_));
  graph_.nodes.push_back(std::move(node));
  return {};
}

// Subgraphs of an operator that is not there may hold others that are not.
Status GraphBuilder::look_inside(const NodeProto& proto) {
  for (const WireField& field : proto.attributes) {
    ANYNPU_ASSIGN(const AttrHead head, read_attribute_head(field));
    if (head.graph) ANYNPU_TRY(GraphBuilder(model_, this).build(*head.graph).status());
  }
  return {};
}

Status GraphBuilder::add_attributes(const NodeProto& proto, graph::Node& node) {
  std::vector<Subgraph> subgraphs;
  for (const WireField& field : proto.attributes) {
    std::string name;
    ANYNPU_ASSIGN(const WireField* attribute, resolve(field, name));
    if (!attribute) continue;
    ANYNPU_ASSIGN(const AttrHead head, read_attribute_head(*attribute));
    if (head.graph && graph::has_subgraphs(node)) {
      GraphBuilder inner(model_, this);
      if (node.op != "If") ++inner.loops_;
      ANYNPU_ASSIGN(graph::Graph graph, inner.build(*head.graph), "in the graph '{}'", name);
      subgraphs.push_back({name, std::move(graph), std::move(inner.captured_from_)});
      continue;
    }
    ANYNPU_ASSIGN(NamedAttr attr, read_attribute(*attribute, model_.source));
    ANYNPU_TRY(check_attribute(attr.value, node));
    if (!attr.empty) node.attrs[name] = std::move(attr.value);
  }
  return add_captures(std::move(subgraphs), node);
}

Status GraphBuilder::add_constant_node(const NodeProto& proto) {
  if (proto.outputs.size() != 1 || proto.outputs[0].empty() || proto.attributes.size() != 1) {
    return fail(Code::corrupt_model,
                "Constant '{}' has {} outputs and {} attributes; expected one of each, export the "
                "model again",
                proto.name, proto.outputs.size(), proto.attributes.size());
  }
  std::string key;
  ANYNPU_ASSIGN(const WireField* attribute, resolve(proto.attributes[0], key));
  if (!attribute) {
    return fail(Code::corrupt_model,
                "Constant '{}' takes its value from the attribute '{}', which the call does not "
                "have; give it at the call or a default in the function",
                proto.name, key);
  }
  ANYNPU_ASSIGN(NamedAttr attr, read_attribute(*attribute, model_.source), "in Constant '{}'",
                proto.name);
  const ValueId id = value(proto.outputs[0]);
  Value made;
  made.name = graph_.values[static_cast<size_t>(id)].name;
  made.has_shape = true;
  if (auto* tensor = std::get_if<graph::TensorAttr>(&attr.value)) {
    made.dtype = tensor->dtype;
    made.shape = std::move(tensor->shape);
    made.constant = std::move(tensor->data);
  } else if (auto* i = std::get_if<int64_t>(&attr.value)) {
    made.dtype = DType::i64;
    made.constant = copy_constant(std::as_bytes(std::span(i, 1)));
  } else if (auto* f = std::get_if<float>(&attr.value)) {
    made.dtype = DType::f32;
    made.constant = copy_constant(std::as_bytes(std::span(f, 1)));
  } else if (auto* ints = std::get_if<std::vector<int64_t>>(&attr.value)) {
    made.dtype = DType::i64;
    made.shape = {static_cast<int64_t>(ints->size())};
    made.constant = copy_constant(std::as_bytes(std::span(*ints)));
  } else if (auto* floats = std::get_if<std::vector<float>>(&attr.value)) {
    made.dtype = DType::f32;
    made.shape = {static_cast<int64_t>(floats->size())};
    made.constant = copy_constant(std::as_bytes(std::span(*floats)));
  } else if (auto* text = std::get_if<std::string>(&attr.value)) {
    made.dtype = DType::string;
    made.constant = string_constant({*text});
  } else if (auto* texts = std::get_if<std::vector<std::string>>(&attr.value)) {
    made.dtype = DType::string;
    made.shape = {static_cast<int64_t>(texts->size())};
    made.constant = string_constant({texts->begin(), texts->end()});
  }
  Value& slot = graph_.values[static_cast<size_t>(id)];
  if (slot.constant) {
    return fail(Code::corrupt_model,
                "value '{}' is a constant already; expected one producer, export the model again",
                made.name);
  }
  slot = std::move(made);
  return {};
}

// Types and shapes the file states for values that nodes produce: kept as a fallback for inference.
Status GraphBuilder::add_declared(const std::vector<WireField>& infos) {
  for (const WireField& field : infos) {
    auto declared = read_value_info(field);
    if (!declared.ok()) continue;  // a map between two nodes: its operator decides
    const auto found = own_.ids.find(declared->name);
    if (found == own_.ids.end()) continue;
    Value& slot = graph_.values[static_cast<size_t>(found->second)];
    if (slot.constant || slot.dtype != DType::undefined) continue;
    slot = std::move(*declared);
  }
  return {};
}

Status GraphBuilder::add_outputs() {
  ANYNPU_TRY(add_declared(outputs_));
  for (const WireField& field : outputs_) {
    ANYNPU_ASSIGN(const Value declared, read_value_info(field),
                  "while reading the outputs of the graph");
    if (!parent_ && declared.kind != graph::ValueKind::tensor) {
      return fail(
          Code::unsupported_feature,
          "output '{}' is a sequence or an optional, outputs of a model must be tensors; give out "
          "its elements",
          declared.name);
    }
    const ValueId id = parent_ ? value(declared.name) : find_for_subgraph(declared.name);
    if (id == kNoValue) {
      return fail(
          Code::corrupt_model,
          "output '{}' of graph '{}' is produced by no node; name one that is, or export the "
          "model again",
          declared.name, graph_.name);
    }
    graph_.outputs.push_back(id);
  }
  if (!parent_ && graph_.outputs.empty()) {
    return fail(Code::corrupt_model,
                "graph '{}' has no outputs; expected at least one, export the model again",
                graph_.name);
  }
  return {};
}

Status GraphBuilder::report_unsupported() const {
  if (model_.unsupported.empty()) return {};
  std::string list;
  for (const std::string& line : model_.unsupported) list += "\n  " + line;
  return fail(
      Code::unsupported_op,
      "{} operators of the model are not supported:{}\nRewrite these parts of the model, or "
      "export it with another opset",
      model_.unsupported.size(), list);
}

}  // namespace anynpu::onnx
