// SPDX-License-Identifier: Apache-2.0
// Loops. A file of MindSpore has none: `while` becomes a function that chooses, at its end, between
// the body, which ends by calling that function again, and what follows the loop.
#include "base/text.h"
#include "import/mindspore/walker.h"

namespace anynpu::mindspore {

namespace {

constexpr std::string_view kReference = "REF::";

const Node* node_that_makes(const GraphProto& graph, const std::string& output) {
  for (const Node& node : graph.nodes) {
    if (!node.outputs.empty() && node.outputs[0] == output) return &node;
  }
  return nullptr;
}

// What the node refers to, without "REF::"; empty when it refers to nothing.
std::string reference_of(const Node* node) {
  return node && node->op_type.starts_with(kReference) ? node->op_type.substr(kReference.size())
                                                       : std::string();
}

}  // namespace

std::string Walker::last_call(const GraphProto& graph) const {
  if (graph.outputs.size() != 1) return {};
  const Node* last = node_that_makes(graph, graph.outputs[0].name);
  // One Depend, which only orders side effects, may come in between.
  if (last && primitive_of(*last) == "Depend" && !last->inputs.empty())
    last = node_that_makes(graph, last->inputs[0]);
  const std::string name = reference_of(last);
  return model_.functions.contains(name) ? name : std::string();
}

bool Walker::is_loop(const GraphProto& graph) const {
  if (graph.outputs.size() != 1) return false;
  const Node* last = node_that_makes(graph, graph.outputs[0].name);
  const Node* chosen = node_that_makes(graph, reference_of(last));
  if (!last || !last->inputs.empty() || !chosen || primitive_of(*chosen) != "Switch") return false;
  for (size_t i = 1; i < chosen->inputs.size(); ++i) {
    const Node* bound = node_that_makes(graph, chosen->inputs[i]);
    if (!bound || primitive_of(*bound) != "Partial" || bound->inputs.empty()) continue;
    const auto side = model_.functions.find(bound->inputs[0]);
    if (side != model_.functions.end() && last_call(side->second) == graph.name) return true;
  }
  return false;
}

size_t Walker::again(const GraphProto& graph, const Item& choice) const {
  size_t found = 0;
  for (size_t i = 1; i < choice.items.size(); ++i) {
    const auto* name = std::get_if<std::string>(&choice.items[i].constant);
    const auto side = name ? model_.functions.find(*name) : model_.functions.end();
    if (side == model_.functions.end() || last_call(side->second) != graph.name) continue;
    if (found != 0) return 0;
    found = i;
  }
  return found;
}

Result<Item> Walker::choice_of(const GraphProto& graph, const std::vector<Item>& arguments) {
  Scope scope;
  for (size_t i = 0; i < graph.inputs.size(); ++i) scope[graph.inputs[i].name] = arguments[i];
  const std::string chosen = reference_of(node_that_makes(graph, graph.outputs[0].name));
  ANYNPU_TRY(count_nodes(graph));
  const Uses uses = uses_of(graph);
  for (const Node& node : graph.nodes) {
    if (node.outputs.empty() || !uses.reads(node.outputs[0])) continue;
    if (node.outputs[0] == graph.outputs[0].name) continue;  // the call itself
    ANYNPU_ASSIGN(Item item, evaluate(node, scope, uses));
    scope[node.outputs[0]] = std::move(item);
  }
  ANYNPU_ASSIGN(Item choice, lookup(chosen, scope));
  if (choice.kind != Item::Kind::choice || again(graph, choice) == 0) {
    return fail(Code::unsupported_feature,
                "the function '{}' calls itself in a way that is no loop; write it out, or export "
                "the model to ONNX and use --framework=5",
                graph.name);
  }
  return choice;
}

// One round: the body's part of the graph on what is carried, then the next condition.
Result<graph::Graph> Walker::loop_body(const GraphProto& graph,
                                       const std::vector<Item>& arguments) {
  std::vector<Item> inside;
  graph_->add_input("round", DType::i64, {});
  graph_->add_input("condition", DType::boolean, {});
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_tensor()) {
      inside.push_back(arguments[i]);
      continue;
    }
    const graph::Value value = main_.value(arguments[i].tensor);
    inside.push_back(Item::of(graph_->add_input(format("carried{}", i), value.dtype, value.shape)));
  }
  ANYNPU_ASSIGN(const Item choice, choice_of(graph, inside));
  const size_t side = again(graph, choice);
  loop_ = &graph;
  ANYNPU_ASSIGN(const Item next, call_function(choice.items[side], {}, graph.name));
  loop_ = nullptr;
  if (next.kind != Item::Kind::tuple || next.items.size() != arguments.size()) {
    return fail(Code::unsupported_feature,
                "the body of the loop '{}' does not end in its next round", graph.name);
  }
  ANYNPU_ASSIGN(const Item then, choice_of(graph, next.items));
  Call call(*graph_, format("{}/condition", graph.name), "Cast", 1, {true});
  ANYNPU_ASSIGN(ValueId condition, call.tensor(then.items[0]));
  if (side == 2) {
    ANYNPU_ASSIGN(condition, call.step("LogicalNot", {condition}));
  }
  std::vector<ValueId> outputs = {condition};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_tensor()) continue;
    const DType dtype = main_.value(arguments[i].tensor).dtype;
    ANYNPU_ASSIGN(ValueId id, call.tensor(next.items[i], dtype));
    if (id >= 0 && (graph_->value(id).dtype != dtype ||
                    graph_->value(id).shape != main_.value(arguments[i].tensor).shape)) {
      return fail(Code::unsupported_feature,
                  "the loop '{}' changes the type or shape of a tensor from round to round",
                  graph.name);
    }
    outputs.push_back(id);
  }
  return graph_->finish(outputs, {});
}

Result<Item> Walker::run_loop(const GraphProto& graph, std::vector<Item> arguments) {
  if (graph_ != &main_) {
    return fail(Code::unsupported_feature,
                "the loop '{}' lies in another one; write one of them out, or export the model to "
                "ONNX and use --framework=5",
                graph.name);
  }
  arguments.resize(graph.inputs.size());
  Call call(*graph_, graph.name, "Loop", 1, {true});
  std::vector<ValueId> carried;
  for (Item& item : arguments) {
    if (item.kind == Item::Kind::constant) {  // a number that the loop may change
      ANYNPU_ASSIGN(const ValueId id, call.tensor(item));
      item = Item::of(id);
    }
    if (!item.is_tensor()) continue;
    if (item.tensor < 0) return Item::of(OpGraph::kUnknown);
    carried.push_back(item.tensor);
  }
  calls_.push_back(&graph);
  ANYNPU_ASSIGN(const Item first, choice_of(graph, arguments));
  ANYNPU_ASSIGN(ValueId condition, call.tensor(first.items[0]));
  if (again(graph, first) == 2) {
    ANYNPU_ASSIGN(condition, call.step("LogicalNot", {condition}));
  }
  OpGraph body(graph.name);
  Scope outside = std::move(parameters_);
  parameters_.clear();
  graph_ = &body;
  auto round = loop_body(graph, arguments);
  graph_ = &main_;
  loop_ = nullptr;
  parameters_ = std::move(outside);
  main_.take_refused(body);
  if (main_.has_refused()) {
    calls_.pop_back();
    return Item::of(OpGraph::kUnknown);
  }
  ANYNPU_TRY(round.status(), "in the loop '{}'", graph.name);
  ANYNPU_ASSIGN(const auto made, main_.add_loop(graph.name, std::move(*round), condition, carried));
  size_t next = 0;
  for (Item& item : arguments) {
    if (item.is_tensor()) item = Item::of(made[next++]);
  }
  ANYNPU_ASSIGN(const Item last, choice_of(graph, arguments));
  const size_t behind = again(graph, last) == 1 ? 2 : 1;
  ANYNPU_ASSIGN(Item result, call_function(last.items[behind], {}, graph.name));
  calls_.pop_back();
  return result;
}

}  // namespace anynpu::mindspore
