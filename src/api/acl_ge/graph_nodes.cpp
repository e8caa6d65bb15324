// SPDX-License-Identifier: Apache-2.0
// Graphs of operators that a program has linked: their nodes and edges.
#include <algorithm>
#include <set>

#include "api/acl_ge/entry.h"
#include "api/acl_ge/operator.h"
#include "api/arguments.h"
#include "base/whole_file.h"
#include "graph/gnode.h"

namespace ge {

using anynpu::Status;
using anynpu::ge_door::enter;

class NodeImpl {
 public:
  std::shared_ptr<OperatorImpl> op;
  GraphImpl::Nodes graph;  // the nodes when it was asked for

  static GNode wrap(std::shared_ptr<OperatorImpl> op, const GraphImpl::Nodes& graph) {
    GNode node;
    node.impl_ = std::make_shared<NodeImpl>(NodeImpl{std::move(op), graph});
    return node;
  }
  GNodePtr other(const std::shared_ptr<OperatorImpl>& op) const {
    return std::make_shared<GNode>(wrap(op, graph));
  }
  static const std::shared_ptr<NodeImpl>& of(const GNode& node) { return node.impl_; }
};

namespace {

using Op = std::shared_ptr<OperatorImpl>;

void visit(const Op& op, std::set<const OperatorImpl*>& seen, GraphImpl::Nodes& found) {
  if (!op || !seen.insert(op.get()).second) return;
  for (const auto& [input, link] : op->links) visit(link.source, seen, found);
  for (const Op& before : op->after) visit(before, seen, found);
  found.push_back(op);
}

int32_t input_index(const OperatorImpl& op, const std::string& name) {
  const auto found = std::ranges::find(op.inputs, name, &OperatorImpl::Port::name);
  return found == op.inputs.end() ? -1 : static_cast<int32_t>(found - op.inputs.begin());
}

// The name of an input by its number; null if there is none.
const std::string* input_name(const OperatorImpl& op, int32_t input) {
  if (input < 0 || static_cast<size_t>(input) >= op.inputs.size()) return nullptr;
  return &op.inputs[static_cast<size_t>(input)].name;
}

}  // namespace

GraphBuffer::GraphBuffer() = default;
GraphBuffer::~GraphBuffer() = default;
const uint8_t* GraphBuffer::GetData() const { return bytes_ ? bytes_->data() : nullptr; }
size_t GraphBuffer::GetSize() const { return bytes_ ? bytes_->size() : 0; }

void GraphImpl::fill(GraphBuffer& buffer, const std::string& text) {
  buffer.bytes_ = std::make_unique<std::vector<uint8_t>>(text.begin(), text.end());
}

GraphImpl::Nodes GraphImpl::nodes() const {
  Nodes found;
  std::set<const OperatorImpl*> seen;
  for (const Op& input : inputs) visit(input, seen, found);
  for (const auto& [output, name] : outputs) visit(output, seen, found);
  return found;
}

std::string GraphImpl::text() const {
  std::string lines = "graph " + name + "\n";
  for (const Op& op : nodes()) {
    lines += op->type + " " + op->name;
    for (const auto& [input, link] : op->links) {
      lines += " " + input + "=" + link.source->name + ":" + std::to_string(link.output);
    }
    lines += "\n";
  }
  return lines;
}

Graph& Graph::SetInputs(const std::vector<Operator>& inputs) {
  GraphImpl::Nodes& nodes = GraphImpl::make(*this).inputs;
  nodes.clear();
  for (const Operator& op : inputs) nodes.push_back(OperatorImpl::of(op));
  return *this;
}

Graph& Graph::SetOutputs(const std::vector<std::pair<Operator, AscendString>>& outputs) {
  auto& list = GraphImpl::make(*this).outputs;
  list.clear();
  for (const auto& [op, name] : outputs) list.emplace_back(OperatorImpl::of(op), name.GetString());
  return *this;
}

Graph& Graph::SetOutputs(const std::vector<Operator>& outputs) {
  std::vector<std::pair<Operator, AscendString>> named;
  for (const Operator& op : outputs) named.emplace_back(op, AscendString());
  return SetOutputs(named);
}

void Graph::SetNeedIteration(bool) {}

std::vector<GNode> Graph::GetDirectNode() const {
  std::vector<GNode> list;
  if (!impl_) return list;
  const GraphImpl::Nodes nodes = impl_->nodes();
  for (const Op& op : nodes) list.push_back(NodeImpl::wrap(op, nodes));
  return list;
}

graphStatus Graph::AddDataEdge(GNode& source, int32_t output, GNode& target, int32_t input) {
  const auto from = NodeImpl::of(source), to = NodeImpl::of(target);
  const std::string* name = from && to ? input_name(*to->op, input) : nullptr;
  if (name == nullptr || output < 0) return GRAPH_PARAM_INVALID;
  to->op->links[*name] = {from->op, static_cast<uint32_t>(output)};
  return GRAPH_SUCCESS;
}

graphStatus Graph::AddControlEdge(GNode& source, GNode& target) {
  const auto from = NodeImpl::of(source), to = NodeImpl::of(target);
  if (!from || !to) return GRAPH_PARAM_INVALID;
  to->op->after.push_back(from->op);
  return GRAPH_SUCCESS;
}

graphStatus Graph::RemoveEdge(GNode& source, int32_t output, GNode& target, int32_t input) {
  const auto from = NodeImpl::of(source), to = NodeImpl::of(target);
  const std::string* name = from && to ? input_name(*to->op, input) : nullptr;
  if (name == nullptr) return GRAPH_PARAM_INVALID;
  const auto link = to->op->links.find(*name);
  const bool there = link != to->op->links.end() && link->second.source == from->op &&
                     static_cast<int64_t>(link->second.output) == output;
  if (!there) return GRAPH_FAILED;
  to->op->links.erase(link);
  return GRAPH_SUCCESS;
}

// A node leaves the graph when nothing links to it.
graphStatus Graph::RemoveNode(GNode& node) {
  const auto removed = NodeImpl::of(node);
  if (!impl_ || !removed) return GRAPH_PARAM_INVALID;
  for (const Op& op : impl_->nodes()) {
    std::erase_if(op->links, [&](const auto& link) { return link.second.source == removed->op; });
    std::erase(op->after, removed->op);
  }
  std::erase(impl_->inputs, removed->op);
  std::erase_if(impl_->outputs, [&](const auto& output) { return output.first == removed->op; });
  return GRAPH_SUCCESS;
}

graphStatus Graph::SaveToFile(const char* path) const {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(anynpu::api::check_pointer(path, "path"));
    const std::string text = impl_ ? impl_->text() : "";
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    return anynpu::write_file_atomically(path, {&bytes, 1}, anynpu::Durability::unsynced);
  });
}

graphStatus Graph::SaveToMem(GraphBuffer& buffer) const {
  GraphImpl::fill(buffer, impl_ ? impl_->text() : "");
  return GRAPH_SUCCESS;
}

graphStatus GNode::GetName(AscendString& name) const {
  if (!impl_) return GRAPH_FAILED;
  name = AscendString(impl_->op->name.c_str());
  return GRAPH_SUCCESS;
}

graphStatus GNode::GetType(AscendString& type) const {
  if (!impl_) return GRAPH_FAILED;
  type = AscendString(impl_->op->type.c_str());
  return GRAPH_SUCCESS;
}

size_t GNode::GetInputsSize() const { return impl_ ? impl_->op->links.size() : 0; }
size_t GNode::GetOutputsSize() const { return impl_ ? impl_->op->outputs.size() : 0; }

std::pair<GNodePtr, int32_t> GNode::GetInDataNodesAndPortIndexs(const int32_t input) const {
  const std::string* name = impl_ ? input_name(*impl_->op, input) : nullptr;
  if (name == nullptr || !impl_->op->links.contains(*name)) return {nullptr, -1};
  const auto& link = impl_->op->links.at(*name);
  return {impl_->other(link.source), static_cast<int32_t>(link.output)};
}

std::vector<std::pair<GNodePtr, int32_t>> GNode::GetOutDataNodesAndPortIndexs(
    const int32_t output) const {
  std::vector<std::pair<GNodePtr, int32_t>> found;
  if (!impl_) return found;
  for (const Op& op : impl_->graph) {
    for (const auto& [input, link] : op->links) {
      const bool reads = link.source == impl_->op && static_cast<int64_t>(link.output) == output;
      if (reads) found.emplace_back(impl_->other(op), input_index(*op, input));
    }
  }
  return found;
}

std::vector<GNodePtr> GNode::GetInControlNodes() const {
  std::vector<GNodePtr> found;
  if (!impl_) return found;
  for (const Op& op : impl_->op->after) found.push_back(impl_->other(op));
  return found;
}

std::vector<GNodePtr> GNode::GetOutControlNodes() const {
  std::vector<GNodePtr> found;
  if (!impl_) return found;
  for (const Op& op : impl_->graph) {
    if (std::ranges::find(op->after, impl_->op) != op->after.end())
      found.push_back(impl_->other(op));
  }
  return found;
}

}  // namespace ge
