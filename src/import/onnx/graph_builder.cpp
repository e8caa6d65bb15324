// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/graph_builder.h"

#include "import/onnx/upgrade.h"
#include "ops/registry.h"

namespace anynpu::onnx {

using graph::kNoValue;
using graph::Value;
using graph::ValueId;

Result<graph::Graph> GraphBuilder::build(const WireField& graph_field) {
  ANYNPU_TRY(read_fields(graph_field), "while reading the graph");
  ANYNPU_TRY(add_initializers());
  ANYNPU_TRY(add_inputs());
  ANYNPU_TRY(add_nodes());
  ANYNPU_TRY(add_declared(infos_));
  ANYNPU_TRY(add_outputs());
  ANYNPU_TRY(report_unsupported());
  ANYNPU_TRY(graph_.verify());
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
        sparse_ = true;
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  if (sparse_) {
    return fail(Code::unsupported_feature,
                "graph '{}' has sparse initializers; save the model with dense weights",
                graph_.name);
  }
  return {};
}

// The id of `name`, made when it is new. "" is an operand left out.
ValueId GraphBuilder::value(std::string_view name) {
  if (name.empty()) return kNoValue;
  const auto [place, is_new] = ids_.try_emplace(std::string(name), kNoValue);
  if (is_new) {
    Value fresh;
    fresh.name = place->first;
    place->second = graph_.add_value(std::move(fresh));
  }
  return place->second;
}

Status GraphBuilder::add_initializers() {
  for (const WireField& field : initializers_) {
    ANYNPU_ASSIGN(Tensor tensor, read_tensor(field, source_), "while reading the initializers");
    if (tensor.name.empty() || ids_.contains(tensor.name)) {
      return fail(Code::corrupt_model,
                  "initializer '{}' is there twice or has no name; expected "
                  "unique names",
                  tensor.name);
    }
    const ValueId id = value(tensor.name);
    Value& slot = graph_.values[static_cast<size_t>(id)];
    slot.dtype = tensor.dtype;
    slot.shape = std::move(tensor.shape);
    slot.has_shape = true;
    slot.constant = std::move(tensor.data);
  }
  return {};
}

// Files before IR version 4 list their initializers among the inputs: those are weights, not
// inputs.
Status GraphBuilder::add_inputs() {
  for (const WireField& field : inputs_) {
    ANYNPU_ASSIGN(Value declared, read_value_info(field), "while reading the inputs of the graph");
    const ValueId id = value(declared.name);
    if (id == kNoValue) return fail(Code::corrupt_model, "an input of the graph has no name");
    if (graph_.values[static_cast<size_t>(id)].constant) continue;
    if (declared.dtype == DType::undefined) {
      return fail(Code::corrupt_model, "input '{}' has no data type; export the model again",
                  declared.name);
    }
    graph_.values[static_cast<size_t>(id)] = std::move(declared);
    graph_.inputs.push_back(id);
  }
  return {};
}

int64_t GraphBuilder::opset_of(const std::string& domain) const {
  for (const OpsetImport& opset : opsets_) {
    if (opset.domain == domain) return opset.version;
  }
  return 0;
}

std::string GraphBuilder::unique_name(const NodeProto& proto) {
  const std::string base =
      proto.name.empty() ? format("{}_{}", proto.op, node_names_.size()) : proto.name;
  std::string name = base;
  for (int suffix = 1; !node_names_.insert(name).second; ++suffix) {
    name = format("{}_{}", base, suffix);
  }
  return name;
}

Status GraphBuilder::add_nodes() {
  for (const WireField& field : nodes_) {
    ANYNPU_ASSIGN(NodeProto proto, read_node(field), "while reading the nodes of '{}'",
                  graph_.name);
    const bool constant = proto.op == "Constant" && proto.domain.empty();
    ANYNPU_TRY(constant ? add_constant_node(proto) : add_node(std::move(proto)));
  }
  return {};
}

// Notes an operator that is not there, and looks into its subgraphs so that one run reports all.
Status GraphBuilder::check_supported(const NodeProto& proto, const std::string& name) {
  const int64_t opset = opset_of(proto.domain);
  const int64_t described = upgraded_opset(proto.op, proto.domain, opset);
  if (!ops::Registry::instance().find(proto.op, proto.domain, described).ok()) {
    unsupported_.push_back(format("{} '{}' (domain '{}', opset {})", proto.op, name,
                                  proto.domain.empty() ? "ai.onnx" : proto.domain, opset));
  }
  return collect_inside(proto);
}

Status GraphBuilder::collect_inside(const NodeProto& proto) {
  for (const WireField& attribute : proto.attributes) {
    ANYNPU_ASSIGN(const std::vector<WireField> graphs, subgraphs_of(attribute));
    for (const WireField& graph_field : graphs) {
      WireReader reader(graph_field);
      WireField field;
      while (reader.next(field)) {
        if (field.number != 1) continue;
        ANYNPU_ASSIGN(const NodeProto inner, read_node(field));
        if (inner.op == "Constant") continue;
        ANYNPU_TRY(
            check_supported(inner, inner.name.empty() ? "inside " + proto.name : inner.name));
      }
      ANYNPU_TRY(reader.status());
    }
  }
  return {};
}

Status GraphBuilder::add_node(NodeProto proto) {
  graph::Node node;
  node.name = unique_name(proto);
  const size_t missing = unsupported_.size();
  ANYNPU_TRY(check_supported(proto, node.name));
  for (std::string_view name : proto.inputs) node.inputs.push_back(value(name));
  for (std::string_view name : proto.outputs) node.outputs.push_back(value(name));
  // Attributes of an operator that is not there are of no use and may be of any kind.
  if (unsupported_.size() == missing) {
    for (const WireField& attribute : proto.attributes) {
      ANYNPU_ASSIGN(NamedAttr attr, read_attribute(attribute, source_), "in node '{}' ({})",
                    node.name, proto.op);
      if (!attr.empty) node.attrs[attr.name] = std::move(attr.value);
    }
  }
  node.opset = opset_of(proto.domain);
  node.op = std::move(proto.op);
  node.domain = std::move(proto.domain);
  ANYNPU_TRY(upgrade(node, graph_));
  graph_.nodes.push_back(std::move(node));
  return {};
}

Status GraphBuilder::add_constant_node(const NodeProto& proto) {
  if (proto.outputs.size() != 1 || proto.outputs[0].empty() || proto.attributes.size() != 1) {
    return fail(Code::corrupt_model,
                "Constant '{}' has {} outputs and {} attributes; expected one of each", proto.name,
                proto.outputs.size(), proto.attributes.size());
  }
  ANYNPU_ASSIGN(NamedAttr attr, read_attribute(proto.attributes[0], source_), "in Constant '{}'",
                proto.name);
  Value made;
  made.name = std::string(proto.outputs[0]);
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
  const ValueId id = value(made.name);
  Value& slot = graph_.values[static_cast<size_t>(id)];
  if (slot.constant) {
    return fail(Code::corrupt_model, "value '{}' is a constant already; expected one producer",
                made.name);
  }
  slot = std::move(made);
  return {};
}

// Types and shapes the file states for values that nodes produce: kept as a fallback for inference.
Status GraphBuilder::add_declared(const std::vector<WireField>& infos) {
  for (const WireField& field : infos) {
    auto declared = read_value_info(field);
    if (!declared.ok()) continue;  // a sequence between two nodes: its operator decides
    const auto found = ids_.find(declared->name);
    if (found == ids_.end()) continue;
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
    const auto found = ids_.find(declared.name);
    if (found == ids_.end()) {
      return fail(Code::corrupt_model, "output '{}' of graph '{}' is produced by no node",
                  declared.name, graph_.name);
    }
    graph_.outputs.push_back(found->second);
  }
  if (graph_.outputs.empty()) {
    return fail(Code::corrupt_model, "graph '{}' has no outputs; expected at least one",
                graph_.name);
  }
  return {};
}

Status GraphBuilder::report_unsupported() const {
  if (unsupported_.empty()) return {};
  std::string list;
  for (const std::string& line : unsupported_) list += "\n  " + line;
  return fail(
      Code::unsupported_op,
      "{} operators of the model are not supported:{}\nRewrite these parts of the model, or "
      "export it with another opset",
      unsupported_.size(), list);
}

}  // namespace anynpu::onnx
