// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_flow.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "compile/graph_edit.h"
#include "compile/pass_table.h"
#include "compile/passes.h"
#include "compile/specialise.h"
#include "graph/flow.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;
using graph::ValueKind;

// The passes that need no shapes, as compile() runs them on the graph around.
Status prepare(Graph& inner, const std::vector<std::string>& passes_off) {
  ANYNPU_TRY(run_passes(inner, PassShapes::unknown, passes_off));
  return {};
}

// What is known of a value before the model runs.
struct Known {
  ValueKind kind = ValueKind::tensor;
  DType dtype = DType::undefined;
  bool has_shape = false;
  Shape shape;

  bool operator==(const Known&) const = default;
};

Known scalar(DType dtype) { return {ValueKind::tensor, dtype, true, {}}; }
Known tensor_of_unknown_shape(DType dtype) { return {ValueKind::tensor, dtype, false, {}}; }
Known sequence_of(DType dtype) { return {ValueKind::sequence, dtype, false, {}}; }

Known known(const Value& value) { return {value.kind, value.dtype, value.has_shape, value.shape}; }
Known known(const Graph& graph, ValueId id) {
  return id == kNoValue ? Known{} : known(graph.values[static_cast<size_t>(id)]);
}

void write(const Known& from, Value& to) {
  to.kind = from.kind;
  to.dtype = from.dtype;
  to.has_shape = from.has_shape;
  to.shape = from.shape;
}

// What holds for both: unknown where they differ.
Result<Known> join(const Known& a, const Known& b, const Node& node, const char* what) {
  Known both = a;
  if (a.dtype == DType::undefined) both.dtype = b.dtype;
  const bool clash =
      a.dtype != b.dtype && a.dtype != DType::undefined && b.dtype != DType::undefined;
  if (clash ||
      (a.kind != b.kind && a.kind != ValueKind::optional && b.kind != ValueKind::optional)) {
    return fail(Code::corrupt_model, "{} '{}': {} are {} and {}; expected one type", node.op,
                node.name, what, name_of(a.dtype), name_of(b.dtype));
  }
  if (a.kind != b.kind) both.kind = ValueKind::optional;
  if (!a.has_shape || !b.has_shape || a.shape.size() != b.shape.size()) {
    both.has_shape = false;
    both.shape.clear();
    return both;
  }
  for (size_t i = 0; i < both.shape.size(); ++i) {
    if (a.shape[i] != b.shape[i]) both.shape[i] = kDynamicDim;
  }
  return both;
}

class FlowInference {
 public:
  FlowInference(Graph& graph, Node& node, const std::vector<std::string>& passes_off,
                FoldBudget& budget)
      : graph_(graph), node_(node), passes_off_(passes_off), budget_(budget) {}

  Status run() {
    if (node_.op == "If") return infer_if();
    if (node_.op == "Loop") return infer_loop();
    if (node_.op == "Scan") return infer_scan();
    return infer_map();
  }

 private:
  Known input(size_t index) const {
    return index < node_.inputs.size() ? known(graph_, node_.inputs[index]) : Known{};
  }
  void set_output(size_t index, const Known& what) {
    const ValueId id = node_.outputs[index];
    if (id == kNoValue) return;
    Value& value = graph_.values[static_cast<size_t>(id)];
    Known merged = what;
    if (merged.dtype == DType::undefined) merged.dtype = value.dtype;
    // A shape that the file states for an output of the model stays where nothing better is known.
    if (!merged.has_shape && value.has_shape && is_output(id)) {
      merged.has_shape = true;
      merged.shape = value.shape;
    }
    write(merged, value);
  }
  bool is_output(ValueId id) const { return contains(graph_.outputs, id); }

  // The subgraph with these inputs (the captures follow), inferred and optimised.
  Result<std::shared_ptr<const Graph>> specialised(std::string_view attr,
                                                   const std::vector<Known>& inputs) const {
    Graph inner = *graph::subgraph(node_, attr);
    for (Value& value : inner.values) {
      if (value.constant) continue;
      value.has_shape = false;  // what the file states for one iteration need not hold for all
      value.shape.clear();
    }
    const size_t formal = graph::formal_inputs(node_);
    for (size_t i = 0; i < inner.inputs.size(); ++i) {
      Known what = i < inputs.size() ? inputs[i] : input(formal + i - inputs.size());
      Value& value = inner.values[static_cast<size_t>(inner.inputs[i])];
      if (what.dtype == DType::undefined) what.dtype = value.dtype;
      write(what, value);
    }
    ANYNPU_TRY(prepare(inner, passes_off_));
    ANYNPU_TRY(optimise_shaped(inner, passes_off_, &budget_), "in the graph '{}' of {} '{}'", attr,
               node_.op, node_.name);
    return std::shared_ptr<const Graph>(std::make_shared<const Graph>(std::move(inner)));
  }

  Status infer_if() {
    std::vector<std::shared_ptr<const Graph>> branches;
    for (std::string_view attr : graph::subgraph_attrs(node_)) {
      ANYNPU_ASSIGN(auto branch, specialised(attr, {}));
      branches.push_back(branch);
    }
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      ANYNPU_ASSIGN(const Known both, join(known(*branches[0], branches[0]->outputs[i]),
                                           known(*branches[1], branches[1]->outputs[i]), node_,
                                           "the results of its branches"));
      set_output(i, both);
    }
    node_.attrs["then_branch"] = branches[0];
    node_.attrs["else_branch"] = branches[1];
    return {};
  }

  // The body with carried values that hold for every iteration: first those of the start, then
  // unknown where an iteration changes them, at last all unknown.
  Result<std::shared_ptr<const Graph>> settle(std::vector<Known> inputs, size_t first_carried,
                                              size_t carried, size_t first_result) const {
    for (int round = 0;; ++round) {
      ANYNPU_ASSIGN(auto body, specialised("body", inputs));
      bool stable = true;
      for (size_t i = 0; i < carried; ++i) {
        Known& before = inputs[first_carried + i];
        const Known after = known(*body, body->outputs[first_result + i]);
        ANYNPU_ASSIGN(Known both, join(before, after, node_, "a carried value before and after"));
        if (round > 0) both.has_shape = both.has_shape && both == before;
        if (!both.has_shape) both.shape.clear();
        stable = stable && both == before;
        before = both;
      }
      if (stable) return body;
      if (round < 1) continue;
      for (size_t i = 0; i < carried; ++i) {
        inputs[first_carried + i].has_shape = false;
        inputs[first_carried + i].shape.clear();
      }
      if (round > 2) {
        return fail(Code::corrupt_model, "{} '{}': the types of its carried values do not settle",
                    node_.op, node_.name);
      }
    }
  }

  // How often a Loop runs when it depends on nothing but constants; -1 otherwise.
  int64_t trip_count(const Graph& body) const {
    const auto trips = constant_elements<int64_t>(graph_, node_.inputs[0]);
    if (trips.size() != 1) return -1;
    if (node_.inputs[1] != kNoValue) {
      const Value& condition = graph_.values[static_cast<size_t>(node_.inputs[1])];
      if (!condition.constant || condition.constant->bytes.size() != 1) return -1;
      if (condition.constant->bytes[0] == std::byte{0}) return 0;
    }
    const ValueId again = body.outputs[0];
    const Value& next = body.values[static_cast<size_t>(again)];
    const bool always =
        again == body.inputs[1] || (next.constant && next.constant->bytes.size() == 1 &&
                                    next.constant->bytes[0] != std::byte{0});
    return always ? std::max<int64_t>(trips[0], 0) : -1;
  }

  Status infer_loop() {
    const size_t carried = graph::formal_inputs(node_) - 2;
    std::vector<Known> inputs = {scalar(DType::i64), scalar(DType::boolean)};
    for (size_t i = 0; i < carried; ++i) inputs.push_back(input(2 + i));
    ANYNPU_ASSIGN(auto body, settle(inputs, 2, carried, 1));
    const int64_t trips = trip_count(*body);
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      const Known result = known(*body, body->outputs[1 + i]);
      if (i < carried) {
        ANYNPU_ASSIGN(const Known both, join(inputs[2 + i], result, node_, "a carried value"));
        set_output(i, both);
        continue;
      }
      Known all = result;
      if (all.has_shape) all.shape.insert(all.shape.begin(), trips);  // -1 = unknown
      set_output(i, all);
    }
    node_.attrs["body"] = body;
    return {};
  }

  static int64_t axis_of(const std::vector<int64_t>& axes, size_t index, int64_t rank) {
    const int64_t axis = index < axes.size() ? axes[index] : 0;
    return axis < 0 ? axis + rank : axis;
  }

  Status infer_scan() {
    const auto scanned = static_cast<size_t>(node_.int_attr("num_scan_inputs", 1));
    const bool batched = node_.opset < 9;
    const size_t first = batched ? 1 : 0;
    const size_t states = graph::formal_inputs(node_) - first - scanned;
    const auto axes = node_.ints_attr("scan_input_axes");
    int64_t length = kDynamicDim;
    std::vector<Known> inputs;
    for (size_t i = 0; i < states + scanned; ++i) {
      Known what = input(first + i);
      const bool slice = i >= states;
      if (batched) {
        what.has_shape = false;
        what.shape.clear();
      } else if (slice && what.has_shape) {
        const auto rank = static_cast<int64_t>(what.shape.size());
        const int64_t axis = axis_of(axes, i - states, rank);
        if (axis < 0 || axis >= rank) {
          return fail(Code::invalid_argument, "Scan '{}': axis {} of scanned input {} of rank {}",
                      node_.name, axis, i - states, rank);
        }
        length = what.shape[static_cast<size_t>(axis)];
        what.shape.erase(what.shape.begin() + axis);
      }
      inputs.push_back(std::move(what));
    }
    ANYNPU_ASSIGN(auto body, settle(inputs, 0, states, 0));
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      Known result = known(*body, body->outputs[i]);
      if (batched) {
        result.has_shape = false;
        result.shape.clear();
      } else if (i < states) {
        ANYNPU_ASSIGN(result, join(inputs[i], result, node_, "a state"));
      } else if (result.has_shape) {
        const auto rank = static_cast<int64_t>(result.shape.size()) + 1;
        const int64_t axis = axis_of(node_.ints_attr("scan_output_axes"), i - states, rank);
        if (axis < 0 || axis >= rank) {
          return fail(Code::invalid_argument, "Scan '{}': axis {} of scanned output {} of rank {}",
                      node_.name, axis, i - states, rank);
        }
        result.shape.insert(result.shape.begin() + axis, length);
      }
      set_output(i, result);
    }
    node_.attrs["body"] = body;
    return {};
  }

  Status infer_map() {
    std::vector<Known> inputs;
    for (size_t i = 0; i < graph::formal_inputs(node_); ++i) {
      Known what = input(i);
      if (what.kind == ValueKind::sequence) what = tensor_of_unknown_shape(what.dtype);
      inputs.push_back(what);
    }
    ANYNPU_ASSIGN(auto body, specialised("body", inputs));
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      set_output(i, sequence_of(known(*body, body->outputs[i]).dtype));
    }
    node_.attrs["body"] = body;
    return {};
  }

  Graph& graph_;
  Node& node_;
  const std::vector<std::string>& passes_off_;
  FoldBudget& budget_;
};

// Operators on sequences and optionals: the kind and the element type of their output.
Known sequence_output(const Graph& graph, const Node& node) {
  const Known first = node.inputs.empty() ? Known{} : known(graph, node.inputs[0]);
  if (node.op == "SequenceLength") return scalar(DType::i64);
  if (node.op == "OptionalHasElement") return scalar(DType::boolean);
  if (node.op == "SequenceAt" || node.op == "ConcatFromSequence")
    return tensor_of_unknown_shape(first.dtype);
  if (node.op == "SequenceEmpty") return sequence_of(DType::undefined);
  if (node.op == "Optional") return {ValueKind::optional, first.dtype, false, {}};
  if (node.op == "Identity") return first;
  if (node.op == "OptionalGetElement") {
    return first.kind == ValueKind::optional ? tensor_of_unknown_shape(first.dtype) : first;
  }
  return sequence_of(first.dtype);
}

}  // namespace

bool is_flow(const Graph& graph, const Node& node) {
  for (ValueId id : node.inputs) {
    if (id != kNoValue && graph.values[static_cast<size_t>(id)].kind != ValueKind::tensor)
      return true;
  }
  const auto schema = ops::Registry::instance().find(node);
  return schema.ok() && (*schema)->is_flow;
}

Status infer_flow(Graph& graph, Node& node, const std::vector<std::string>& passes_off,
                  FoldBudget& budget) {
  if (graph::has_subgraphs(node)) {
    graph::sink_constants(graph, node);
    return FlowInference(graph, node, passes_off, budget).run();
  }
  if (node.outputs.size() != 1 || node.outputs[0] == kNoValue) {
    return fail(Code::corrupt_model, "{} '{}' has {} outputs, expected 1", node.op, node.name,
                node.outputs.size());
  }
  Value& out = graph.values[static_cast<size_t>(node.outputs[0])];
  Known what = sequence_output(graph, node);
  if (what.dtype == DType::undefined) what.dtype = out.dtype;
  if (what.kind == ValueKind::tensor && !what.has_shape && out.has_shape && is_static(out.shape) &&
      contains(graph.outputs, node.outputs[0])) {
    what.has_shape = true;
    what.shape = out.shape;
  }
  write(what, out);
  return {};
}

Result<std::vector<Node>> inline_branch(Graph& graph, const Node& node,
                                        const std::vector<std::string>& passes_off) {
  if (node.op != "If" || !node.domain.empty() || node.inputs[0] == kNoValue)
    return std::vector<Node>{};
  const Value& condition = graph.values[static_cast<size_t>(node.inputs[0])];
  if (!condition.constant || condition.constant->bytes.size() != 1) return std::vector<Node>{};
  const bool taken = condition.constant->bytes[0] != std::byte{0};
  Graph inner = *graph::subgraph(node, taken ? "then_branch" : "else_branch");
  ANYNPU_TRY(prepare(inner, passes_off));
  std::vector<ValueId> ids(inner.values.size(), kNoValue);
  for (size_t i = 0; i < inner.inputs.size(); ++i) {
    ids[static_cast<size_t>(inner.inputs[i])] = node.inputs[1 + i];
  }
  // An output that a node of the branch makes is made in its place; any other is copied there.
  std::vector<Node> nodes;
  std::vector<bool> made(inner.values.size(), false);
  for (const Node& each : inner.nodes) {
    for (ValueId id : each.outputs) {
      if (id != kNoValue) made[static_cast<size_t>(id)] = true;
    }
  }
  std::vector<std::pair<ValueId, ValueId>> copies;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    ValueId& id = ids[static_cast<size_t>(inner.outputs[i])];
    if (id == kNoValue && made[static_cast<size_t>(inner.outputs[i])]) {
      id = node.outputs[i];
    } else {
      copies.emplace_back(inner.outputs[i], node.outputs[i]);
    }
  }
  for (size_t i = 0; i < inner.values.size(); ++i) {
    if (ids[i] != kNoValue) continue;
    Value value = std::move(inner.values[i]);
    value.name = node.name + "/" + value.name;
    if (!value.constant) value.has_shape = false;
    if (!value.constant) value.shape.clear();
    ids[i] = graph.add_value(std::move(value));
  }
  const auto renumber = [&](std::vector<ValueId>& list) {
    for (ValueId& id : list) id = id == kNoValue ? kNoValue : ids[static_cast<size_t>(id)];
  };
  for (Node& each : inner.nodes) {
    renumber(each.inputs);
    renumber(each.outputs);
    each.name = node.name + "/" + each.name;
    nodes.push_back(std::move(each));
  }
  for (const auto& [from, to] : copies) {
    Node copy;
    copy.op = "Identity";
    copy.opset = std::max<int64_t>(node.opset, 13);
    copy.name = format("{}/copy_{}", node.name, nodes.size());
    copy.inputs = {ids[static_cast<size_t>(from)]};
    copy.outputs = {to};
    nodes.push_back(std::move(copy));
  }
  return nodes;
}

bool all_shapes_known(const Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  const auto use = [&](const std::vector<ValueId>& ids) {
    for (ValueId id : ids) {
      if (id != kNoValue) used[static_cast<size_t>(id)] = true;
    }
  };
  use(graph.inputs);
  use(graph.outputs);
  for (const Node& node : graph.nodes) use(node.inputs), use(node.outputs);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (!used[i]) continue;
    if (value.kind != ValueKind::tensor || value.dtype == DType::undefined || !value.has_shape ||
        !is_static(value.shape))
      return false;
  }
  return true;
}

}  // namespace anynpu::compile
