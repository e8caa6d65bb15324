// SPDX-License-Identifier: Apache-2.0
// What names mean: in a graph, in a subgraph that captures values of the graph around it, and in a
// call of a function of the model.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "graph/flow.h"
#include "import/onnx/graph_builder.h"

namespace anynpu::onnx {

using graph::kNoValue;
using graph::Value;
using graph::ValueId;

namespace {

constexpr int kMostCalls = 32;  // of functions, one inside the other

}  // namespace

// The names this graph defines: a name that is not among them comes from the graph around it.
Status GraphBuilder::note_names() {
  for (const WireField& field : nodes_) {
    WireReader reader(field);
    WireField part;
    std::string name;
    while (reader.next(part)) {
      if (part.number != 2) continue;
      ANYNPU_TRY(part.to(name));
      produced_.insert(name);
    }
    ANYNPU_TRY(reader.status(), "while reading the nodes of '{}'", graph_.name);
  }
  return {};
}

// The id of `name`, made when it is new. "" is an operand left out.
ValueId GraphBuilder::value(std::string_view name) {
  if (name.empty()) return kNoValue;
  const std::string key(name);
  if (const auto found = names_->ids.find(key); found != names_->ids.end()) return found->second;
  if (parent_ && !names_->is_call && !produced_.contains(key)) {
    if (const ValueId id = capture(key); id != kNoValue) return id;
  }
  Value fresh;
  fresh.name = names_->prefix + key;
  const ValueId id = graph_.add_value(std::move(fresh));
  names_->ids.emplace(key, id);
  return id;
}

// For a subgraph that uses `name`: the value here, captured in turn where it has to be.
ValueId GraphBuilder::find_for_subgraph(const std::string& name) {
  if (const auto found = names_->ids.find(name); found != names_->ids.end()) return found->second;
  if (names_->is_call) return kNoValue;
  if (produced_.contains(name)) return value(name);
  return parent_ ? capture(name) : kNoValue;
}

ValueId GraphBuilder::capture(const std::string& name) {
  const ValueId outer = parent_->find_for_subgraph(name);
  if (outer == kNoValue) return kNoValue;
  for (size_t i = 0; i < captured_.size(); ++i) {
    if (captured_from_[i] != outer) continue;
    own_.ids.emplace(name, captured_[i]);
    return captured_[i];
  }
  Value copy = parent_->graph_.values[static_cast<size_t>(outer)];
  copy.name = name;
  const bool constant = copy.constant != nullptr;
  const ValueId id = graph_.add_value(std::move(copy));
  own_.ids.emplace(name, id);
  if (!constant) {
    captured_.push_back(id);
    captured_from_.push_back(outer);
  }
  return id;
}

Result<const WireField*> GraphBuilder::resolve(const WireField& attribute,
                                               std::string& name) const {
  ANYNPU_ASSIGN(const AttrHead head, read_attribute_head(attribute));
  name = head.name;
  if (head.refers_to.empty()) return &attribute;
  const auto found = names_->attributes.find(head.refers_to);
  return found == names_->attributes.end() ? nullptr : &found->second;
}

// All subgraphs of a node capture the same values in the same order, used or not.
Status GraphBuilder::add_captures(std::vector<Subgraph> subgraphs, graph::Node& node) {
  if (subgraphs.empty()) return {};
  std::vector<ValueId> all;
  for (const Subgraph& sub : subgraphs) {
    for (ValueId id : sub.outer) {
      if (!contains(all, id)) all.push_back(id);
    }
  }
  for (Subgraph& sub : subgraphs) {
    std::vector<ValueId>& inputs = sub.graph.inputs;
    const size_t formal = inputs.size() - sub.outer.size();
    const std::vector<ValueId> own(inputs.begin() + static_cast<ptrdiff_t>(formal), inputs.end());
    inputs.resize(formal);
    for (ValueId id : all) {
      const auto at = std::find(sub.outer.begin(), sub.outer.end(), id);
      if (at != sub.outer.end()) {
        inputs.push_back(own[static_cast<size_t>(at - sub.outer.begin())]);
        continue;
      }
      Value unused = graph_.values[static_cast<size_t>(id)];
      unused.name += "/unused";
      inputs.push_back(sub.graph.add_value(std::move(unused)));
    }
    node.attrs[sub.attr] = std::make_shared<const graph::Graph>(std::move(sub.graph));
  }
  node.inputs.insert(node.inputs.end(), all.begin(), all.end());
  node.attrs[graph::kCapturesAttr] = static_cast<int64_t>(all.size());
  return {};
}

Status GraphBuilder::add_identity(ValueId from, ValueId to) {
  graph::Node node;
  node.op = "Identity";
  node.opset = 13;
  NodeProto proto;
  proto.op = node.op;
  node.name = unique_name(proto);
  node.inputs = {from};
  node.outputs = {to};
  graph_.nodes.push_back(std::move(node));
  return {};
}

Status GraphBuilder::add_call(const Function& function, const NodeProto& proto) {
  if (names_->depth >= kMostCalls) {
    return fail(Code::limit_exceeded,
                "functions call one another more than {} deep, at most that many are taken; none "
                "may call itself, and deeper ones are put in place by "
                "onnx.inliner.inline_local_functions",
                kMostCalls);
  }
  Names call;
  call.is_call = true;
  call.depth = names_->depth + 1;
  call.opsets = function.opsets.empty() ? names_->opsets : &function.opsets;
  call.attributes = function.defaults;
  call.prefix = unique_name(proto) + "/";
  for (const WireField& field : proto.attributes) {
    std::string name;
    ANYNPU_ASSIGN(const WireField* attribute, resolve(field, name));
    if (attribute) call.attributes[name] = *attribute;
  }
  if (proto.inputs.size() > function.inputs.size() ||
      proto.outputs.size() > function.outputs.size()) {
    return fail(Code::corrupt_model,
                "a call has {} inputs and {} outputs, the function {} and {}; expected no more",
                proto.inputs.size(), proto.outputs.size(), function.inputs.size(),
                function.outputs.size());
  }
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const ValueId id = i < proto.inputs.size() ? value(proto.inputs[i]) : kNoValue;
    call.ids.insert_or_assign(std::string(function.inputs[i]), id);
  }
  std::vector<std::pair<std::string, ValueId>> passed_through;
  for (size_t i = 0; i < proto.outputs.size(); ++i) {
    if (proto.outputs[i].empty()) continue;
    const std::string name(function.outputs[i]);
    const ValueId id = value(proto.outputs[i]);
    if (!call.ids.emplace(name, id).second) passed_through.emplace_back(name, id);
  }
  Names* const around = std::exchange(names_, &call);
  Status status = add_nodes(function.nodes);
  for (const auto& [name, id] : passed_through) {
    if (status.ok()) status = add_identity(call.ids.at(name), id);
  }
  names_ = around;
  return status;
}

}  // namespace anynpu::onnx
