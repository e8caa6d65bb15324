// SPDX-License-Identifier: Apache-2.0
#include "exec/flow_step.h"

#include <algorithm>
#include <cstring>

#include "base/wanted.h"
#include "exec/loop_limit.h"
#include "exec/memory.h"
#include "exec/node_runner.h"
#include "exec/step_program.h"
#include "graph/flow.h"

namespace anynpu::exec {

namespace {

using Inputs = std::span<const RunValue* const>;

// Both graphs of a node and the values they capture.
class FlowStep : public NodeRunner {
 public:
  Status prepare(const graph::Node& node, const std::shared_ptr<StepObserver>& observer) {
    node_ = node;
    for (std::string_view attr : graph::subgraph_attrs(node)) {
      const auto graph = graph::subgraph(node, attr);
      ANYNPU_ASSIGN(auto program, StepProgram::make(*graph, observer),
                    "in the graph '{}' of {} '{}'", attr, node.op, node.name);
      programs_.push_back(std::move(program));
      for (graph::ValueId id : graph->outputs) {
        results_.push_back(graph->values[static_cast<size_t>(id)]);
        results_.back().constant = nullptr;
      }
    }
    node_.attrs.erase("body");  // the programs have what they need of the graphs
    node_.attrs.erase("then_branch");
    node_.attrs.erase("else_branch");
    formal_ = graph::formal_inputs(node);
    return {};
  }

 protected:
  std::string label() const { return format("{} '{}'", node_.op, node_.name); }
  void append_captures(Inputs inputs, std::vector<RunValue>& to) const {
    for (size_t i = formal_; i < inputs.size(); ++i) to.push_back(*inputs[i]);
  }

  // What several iterations made, side by side; where there was none, as much as is known.
  Result<RunValue> stack(std::span<const RunValue> parts, size_t result, int64_t axis) const {
    if (!parts.empty()) return join_tensors(parts, axis, true);
    const graph::Value& one = results_[result];
    Shape shape = one.has_shape ? one.shape : Shape{};
    for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 0);
    const auto rank = static_cast<int64_t>(shape.size()) + 1;
    const int64_t at = std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank - 1);
    shape.insert(shape.begin() + at, 0);
    return new_tensor(one.dtype, std::move(shape));
  }

  graph::Node node_;
  size_t formal_ = 0;  // inputs before the captures
  std::vector<std::shared_ptr<const StepProgram>> programs_;
  std::vector<graph::Value> results_;  // outputs of the (first) graph
};

class IfStep final : public FlowStep {
 public:
  Status run(Inputs inputs, std::span<RunValue> outputs) const override {
    ANYNPU_ASSIGN(const int64_t condition, read_scalar(*inputs[0], label() + ": its condition"));
    std::vector<RunValue> captures;
    append_captures(inputs, captures);
    ANYNPU_ASSIGN(std::vector<RunValue> results, programs_[condition ? 0 : 1]->run(captures));
    std::move(results.begin(), results.end(), outputs.begin());
    return {};
  }
};

class LoopStep final : public FlowStep {
 public:
  Status run(Inputs inputs, std::span<RunValue> outputs) const override {
    const size_t carried = formal_ - 2, scans = outputs.size() - carried;
    int64_t most = INT64_MAX, again = 1;
    if (inputs[0]->is_tensor()) {
      ANYNPU_ASSIGN(most, read_scalar(*inputs[0], label() + ": its trip count"));
    }
    if (inputs[1]->is_tensor()) {
      ANYNPU_ASSIGN(again, read_scalar(*inputs[1], label() + ": its condition"));
    }
    std::vector<RunValue> values;  // of the body: iteration, condition, carried, captures
    ANYNPU_ASSIGN(RunValue condition, new_tensor(DType::boolean, {}));
    *condition.data = std::byte{again != 0};
    values.emplace_back();
    values.push_back(std::move(condition));
    for (size_t i = 0; i < carried; ++i) values.push_back(*inputs[2 + i]);
    append_captures(inputs, values);
    std::vector<std::vector<RunValue>> made(scans);
    size_t kept = 0;
    for (int64_t iteration = 0; iteration < most && again != 0; ++iteration) {
      ANYNPU_TRY(check_wanted(), "in iteration {} of {}", iteration, label());
      if (iteration >= limit_ && most == INT64_MAX) return endless_loop(label(), iteration);
      ANYNPU_ASSIGN(values[0], new_tensor(DType::i64, {}));
      std::memcpy(values[0].data.get(), &iteration, sizeof iteration);
      ANYNPU_ASSIGN(std::vector<RunValue> results, programs_[0]->run(values), "in iteration {}",
                    iteration);
      ANYNPU_ASSIGN(again, read_scalar(results[0], label() + ": the condition of its body"));
      std::move(results.begin(), results.begin() + static_cast<ptrdiff_t>(1 + carried),
                values.begin() + 1);
      for (size_t i = 0; i < scans; ++i) {
        kept += results[1 + carried + i].is_tensor() ? results[1 + carried + i].bytes() : 0;
        made[i].push_back(std::move(results[1 + carried + i]));
      }
      if (kept > most_kept_) return too_much(iteration, kept);
    }
    for (size_t i = 0; i < carried; ++i) outputs[i] = std::move(values[2 + i]);
    for (size_t i = 0; i < scans; ++i) {
      ANYNPU_ASSIGN(outputs[carried + i], stack(made[i], 1 + carried + i, 0));
    }
    return {};
  }

 private:
  Status too_much(int64_t iteration, size_t bytes) const {
    return fail(Code::out_of_memory,
                "{}: what it gathers takes {} bytes after iteration {}, more than half of the "
                "machine's memory; let it end earlier",
                label(), bytes, iteration);
  }

  const int64_t limit_ = loop_limit();
  const size_t most_kept_ = static_cast<size_t>(machine_bytes()) / 2;
};

class ScanStep final : public FlowStep {
 public:
  Status run(Inputs inputs, std::span<RunValue> outputs) const override {
    if (node_.opset < 9) return run_batches(inputs, outputs);
    const auto scanned = static_cast<size_t>(node_.int_attr("num_scan_inputs", 1));
    std::vector<RunValue> values;
    for (size_t i = 0; i < formal_; ++i) values.push_back(*inputs[i]);
    return scan(std::move(values), formal_ - scanned, -1, inputs, outputs);
  }

 private:
  static int64_t at(const std::vector<int64_t>& list, size_t index) {
    return index < list.size() ? list[index] : 0;
  }

  // One pass: `formal` are the states and, behind them, what is cut into slices. `length` limits
  // the iterations; -1 = the whole axis.
  Status scan(std::vector<RunValue> formal, size_t states, int64_t length, Inputs inputs,
              std::span<RunValue> outputs) const {
    const auto axes = node_.ints_attr("scan_input_axes");
    const auto turned = node_.ints_attr(node_.opset < 9 ? "directions" : "scan_input_directions");
    std::vector<int64_t> axis;
    int64_t whole = -1;
    for (size_t i = states; i < formal.size(); ++i) {
      const auto rank = static_cast<int64_t>(formal[i].shape.size());
      const int64_t wanted = at(axes, i - states);
      axis.push_back(wanted < 0 ? wanted + rank : wanted);
      if (axis.back() < 0 || axis.back() >= rank) {
        return fail(Code::invalid_argument, "{}: axis {} of a scanned input of shape {}", label(),
                    wanted, to_string(formal[i].shape));
      }
      const int64_t extent = formal[i].shape[static_cast<size_t>(axis.back())];
      if (whole >= 0 && whole != extent) {
        return fail(Code::shape_mismatch,
                    "{}: scanned inputs have {} and {} slices; expected the "
                    "same",
                    label(), whole, extent);
      }
      whole = extent;
    }
    const int64_t count = length < 0 ? whole : std::min(length, whole);
    const size_t scans = outputs.size() - states;
    std::vector<std::vector<RunValue>> made(scans);
    for (int64_t t = 0; t < count; ++t) {
      ANYNPU_TRY(check_wanted(), "in iteration {} of {}", t, label());
      std::vector<RunValue> values(formal.begin(), formal.begin() + static_cast<ptrdiff_t>(states));
      for (size_t i = states; i < formal.size(); ++i) {
        const int64_t index = at(turned, i - states) != 0 ? count - 1 - t : t;
        ANYNPU_ASSIGN(RunValue slice, slice_of(formal[i], axis[i - states], index));
        values.push_back(std::move(slice));
      }
      append_captures(inputs, values);
      ANYNPU_ASSIGN(std::vector<RunValue> results, programs_[0]->run(values), "in iteration {}", t);
      std::move(results.begin(), results.begin() + static_cast<ptrdiff_t>(states), formal.begin());
      for (size_t i = 0; i < scans; ++i) made[i].push_back(std::move(results[states + i]));
    }
    for (size_t i = 0; i < states; ++i) outputs[i] = std::move(formal[i]);
    const auto out_axes = node_.ints_attr("scan_output_axes");
    const auto out_turned = node_.ints_attr("scan_output_directions");
    for (size_t i = 0; i < scans; ++i) {
      if (at(out_turned, i) != 0) std::reverse(made[i].begin(), made[i].end());
      ANYNPU_ASSIGN(outputs[states + i], stack(made[i], states + i, at(out_axes, i)));
    }
    return {};
  }

  // Opset 8: every operand has a batch in front, each with a length of its own; what lies behind it
  // in the scanned outputs is 0.
  Status run_batches(Inputs inputs, std::span<RunValue> outputs) const {
    const auto scanned = static_cast<size_t>(node_.int_attr("num_scan_inputs", 1));
    const size_t states = formal_ - 1 - scanned;
    if (inputs.size() < 2 || inputs[1]->shape.empty()) {
      return fail(Code::shape_mismatch, "{}: its inputs have no batch", label());
    }
    const int64_t batches = inputs[1]->shape[0];
    std::vector<std::vector<RunValue>> made(outputs.size());
    for (int64_t b = 0; b < batches; ++b) {
      std::vector<RunValue> values;
      for (size_t i = 1; i < formal_; ++i) {
        ANYNPU_ASSIGN(RunValue part, slice_of(*inputs[i], 0, b));
        values.push_back(std::move(part));
      }
      int64_t length = -1;
      if (inputs[0]->is_tensor()) {
        ANYNPU_ASSIGN(const RunValue one, slice_of(*inputs[0], 0, b));
        ANYNPU_ASSIGN(length, read_scalar(one, label() + ": a sequence length"));
      }
      const int64_t whole = values[states].shape.empty() ? 0 : values[states].shape[0];
      std::vector<RunValue> results(outputs.size());
      ANYNPU_TRY(scan(std::move(values), states, length, inputs, results));
      for (size_t i = 0; i < results.size(); ++i) {
        if (i >= states && length >= 0 && length < whole) {
          ANYNPU_ASSIGN(results[i], padded(results[i], whole));
        }
        made[i].push_back(std::move(results[i]));
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      ANYNPU_ASSIGN(outputs[i], stack(made[i], i, 0));
    }
    return {};
  }

  static Result<RunValue> padded(const RunValue& tensor, int64_t length) {
    Shape shape = tensor.shape;
    shape[0] = length;
    ANYNPU_ASSIGN(RunValue whole, new_tensor(tensor.dtype, std::move(shape)));
    std::memset(whole.data.get(), 0, whole.bytes());
    std::memcpy(whole.data.get(), tensor.data.get(), tensor.bytes());
    return whole;
  }
};

class SequenceMapStep final : public FlowStep {
 public:
  Status run(Inputs inputs, std::span<RunValue> outputs) const override {
    if (inputs[0]->kind != RunValue::Kind::sequence) {
      return fail(Code::unsupported_dtype, "{}: its first input is no sequence", label());
    }
    const size_t count = inputs[0]->items->size();
    std::vector<std::vector<RunValue>> made(outputs.size());
    for (size_t t = 0; t < count; ++t) {
      std::vector<RunValue> values;
      for (size_t i = 0; i < formal_; ++i) {
        const bool sequence = inputs[i]->kind == RunValue::Kind::sequence;
        if (sequence && inputs[i]->items->size() != count) {
          return fail(Code::shape_mismatch, "{}: its sequences have {} and {} elements", label(),
                      count, inputs[i]->items->size());
        }
        values.push_back(sequence ? (*inputs[i]->items)[t] : *inputs[i]);
      }
      append_captures(inputs, values);
      ANYNPU_ASSIGN(std::vector<RunValue> results, programs_[0]->run(values), "for element {}", t);
      for (size_t i = 0; i < results.size(); ++i) made[i].push_back(std::move(results[i]));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = RunValue::sequence(results_[i].dtype, std::move(made[i]));
    }
    return {};
  }
};

std::unique_ptr<FlowStep> new_flow_step(const graph::Node& node) {
  if (node.op == "If") return std::make_unique<IfStep>();
  if (node.op == "Loop") return std::make_unique<LoopStep>();
  if (node.op == "Scan") return std::make_unique<ScanStep>();
  return std::make_unique<SequenceMapStep>();
}

class FlowPlan final : public ops::KernelPlan {
 public:
  std::unique_ptr<NodeRunner> runner;
  std::vector<TensorShape> inputs, outputs;
  std::string label;

  Status run(const ops::RunArgs& args) const override {
    std::vector<RunValue> given(inputs.size());
    std::vector<const RunValue*> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].dtype != DType::undefined)
        given[i] = RunValue::borrow(inputs[i].dtype, inputs[i].shape, args.inputs[i]);
      pointers.push_back(&given[i]);
    }
    std::vector<RunValue> results(outputs.size());
    ANYNPU_TRY(runner->run(pointers, results));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].dtype == DType::undefined) continue;
      if (!results[i].is_tensor() || results[i].dtype != outputs[i].dtype ||
          results[i].shape != outputs[i].shape) {
        return fail(Code::shape_mismatch,
                    "{}: output {} has {} {} in this run, the model states {} {}; feed values that "
                    "fit, or compile the model with another shape",
                    label, i, name_of(results[i].dtype), to_string(results[i].shape),
                    name_of(outputs[i].dtype), to_string(outputs[i].shape));
      }
      if (results[i].bytes() > 0)
        std::memcpy(args.outputs[i], results[i].data.get(), results[i].bytes());
    }
    return {};
  }
};

}  // namespace

NodeRunnerResult make_flow_step(const graph::Node& node,
                                const std::shared_ptr<StepObserver>& observer) {
  ANYNPU_TRY(graph::check_flow(node));
  auto step = new_flow_step(node);
  ANYNPU_TRY(step->prepare(node, observer));
  return std::unique_ptr<NodeRunner>(std::move(step));
}

Result<std::unique_ptr<ops::KernelPlan>> plan_flow(const graph::Node& node,
                                                   std::vector<TensorShape> inputs,
                                                   std::vector<TensorShape> outputs,
                                                   const std::shared_ptr<StepObserver>& observer) {
  auto plan = std::make_unique<FlowPlan>();
  ANYNPU_ASSIGN(plan->runner, make_flow_step(node, observer));
  plan->inputs = std::move(inputs);
  plan->outputs = std::move(outputs);
  plan->label = format("{} '{}'", node.op, node.name);
  return std::unique_ptr<ops::KernelPlan>(std::move(plan));
}

}  // namespace anynpu::exec
