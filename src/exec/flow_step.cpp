// SPDX-License-Identifier: Apache-2.0
#include "exec/flow_step.h"

#include <algorithm>
#include <cstring>

#include "base/cancellation.h"
#include "base/spare_pool.h"
#include "exec/loop_limit.h"
#include "exec/memory.h"
#include "exec/node_runner.h"
#include "exec/step_program.h"
#include "graph/flow.h"

namespace anynpu::exec {

namespace {

using Inputs = std::span<const RunValue* const>;

// What one run at a time uses, kept for the next with the room of its values: as long as sizes come
// again, control flow allocates nothing.
struct Scratch {
  std::vector<RunValue> formal;  // what a Scan carries and cuts
  std::vector<RunValue> values;  // inputs of the body
  std::vector<RunValue> results;
  std::vector<RunItems> made;  // one per output that gathers what the iterations made

  void prepare(size_t value_count, size_t result_count, size_t gathered) {
    values.resize(value_count);
    results.resize(result_count);
    made.resize(gathered);
  }
  void clear() {
    for (auto* list : {&formal, &values, &results}) {
      for (RunValue& value : *list) value.clear();
    }
    for (RunItems& items : made) items.clear();
  }
};

// Both graphs of a node and the values they capture.
class FlowStep : public NodeRunner {
 public:
  Status prepare(const graph::Node& node, const ops::Target& target,
                 const std::shared_ptr<StepObserver>& observer) {
    node_ = node;
    for (std::string_view attr : graph::subgraph_attrs(node)) {
      const auto graph = graph::subgraph(node, attr);
      ANYNPU_ASSIGN(auto program, StepProgram::make(*graph, target, observer),
                    "in the graph '{}' of {} '{}'", attr, node.op, node.name);
      programs_.push_back(std::move(program));
      for (graph::ValueId id : graph->outputs) {
        results_.push_back(graph->values[static_cast<size_t>(id)]);
        results_.back().constant = nullptr;
      }
    }
    configure();
    node_.attrs.erase("body");  // the programs have what they need of the graphs
    node_.attrs.erase("then_branch");
    node_.attrs.erase("else_branch");
    formal_ = graph::formal_inputs(node);
    return {};
  }

  Status run(Inputs inputs, std::span<RunValue> outputs) const final {
    auto scratch = scratches_.take();
    if (!scratch) scratch = std::make_unique<Scratch>();
    Status status = run_with(*scratch, inputs, outputs);
    scratch->clear();
    scratches_.give(std::move(scratch));
    return status;
  }

 protected:
  virtual Status run_with(Scratch& scratch, Inputs inputs, std::span<RunValue> outputs) const = 0;
  // Reads attributes of node_.
  virtual void configure() {}

  std::string label() const { return format("{} '{}'", node_.op, node_.name); }
  // Captures follow the formal inputs of a body, which are `first` values.
  size_t with_captures(size_t first, Inputs inputs) const {
    return first + inputs.size() - formal_;
  }
  void set_captures(size_t first, Inputs inputs, std::vector<RunValue>& values) const {
    for (size_t i = formal_; i < inputs.size(); ++i) values[first + i - formal_] = *inputs[i];
  }

  // What several iterations made, side by side; where there was none, as much as is known.
  Status stack(const RunItems& parts, size_t result, int64_t axis, RunValue& out) const {
    if (parts.size() > 0) return join_tensors(parts.values(), axis, true, out);
    const graph::Value& one = results_[result];
    Shape shape = one.has_shape ? one.shape : Shape{};
    for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 0);
    const auto rank = static_cast<int64_t>(shape.size()) + 1;
    const int64_t at = std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank - 1);
    shape.insert(shape.begin() + at, 0);
    return make_tensor(one.dtype, shape, out);
  }

  graph::Node node_;
  size_t formal_ = 0;  // inputs before the captures
  std::vector<std::shared_ptr<const StepProgram>> programs_;
  std::vector<graph::Value> results_;  // outputs of the (first) graph
  mutable SparePool<Scratch> scratches_;
};

class IfStep final : public FlowStep {
  Status run_with(Scratch& scratch, Inputs inputs, std::span<RunValue> outputs) const override {
    ANYNPU_ASSIGN(const int64_t condition, read_scalar(*inputs[0], node_, "its condition"));
    scratch.values.resize(with_captures(0, inputs));
    set_captures(0, inputs, scratch.values);
    return programs_[condition ? 0 : 1]->run(scratch.values, outputs);
  }
};

class LoopStep final : public FlowStep {
  Status run_with(Scratch& scratch, Inputs inputs, std::span<RunValue> outputs) const override {
    const size_t carried = formal_ - 2, scans = outputs.size() - carried;
    int64_t most = INT64_MAX, again = 1;
    if (inputs[0]->is_tensor()) {
      ANYNPU_ASSIGN(most, read_scalar(*inputs[0], node_, "its trip count"));
    }
    if (inputs[1]->is_tensor()) {
      ANYNPU_ASSIGN(again, read_scalar(*inputs[1], node_, "its condition"));
    }
    auto& [formal, values, results, made] = scratch;
    // Of the body: iteration, condition, carried, captures.
    scratch.prepare(with_captures(2 + carried, inputs), 1 + outputs.size(), scans);
    ANYNPU_TRY(make_tensor(DType::boolean, {}, values[1]));
    *values[1].data = std::byte{again != 0};
    for (size_t i = 0; i < carried; ++i) values[2 + i] = *inputs[2 + i];
    set_captures(2 + carried, inputs, values);
    size_t kept = 0;
    for (int64_t iteration = 0; iteration < most && again != 0; ++iteration) {
      ANYNPU_TRY(check_cancelled(), "in iteration {} of {}", iteration, label());
      if (iteration >= limit_) return endless_loop(label(), iteration, most);
      ANYNPU_TRY(make_tensor(DType::i64, {}, values[0]));
      std::memcpy(values[0].data.get(), &iteration, sizeof iteration);
      ANYNPU_TRY(programs_[0]->run(values, results), "in iteration {}", iteration);
      ANYNPU_ASSIGN(again, read_scalar(results[0], node_, "the condition of its body"));
      for (size_t i = 0; i < 1 + carried; ++i) std::swap(values[1 + i], results[i]);
      for (size_t i = 0; i < scans; ++i) {
        RunValue& result = results[1 + carried + i];
        kept += result.is_tensor() ? result.bytes() : 0;
        std::swap(made[i].add(), result);
      }
      if (kept > most_kept_) return too_much(iteration, kept);
    }
    for (size_t i = 0; i < carried; ++i) std::swap(outputs[i], values[2 + i]);
    for (size_t i = 0; i < scans; ++i) {
      ANYNPU_TRY(stack(made[i], 1 + carried + i, 0, outputs[carried + i]));
    }
    return {};
  }

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
  void configure() override {
    scanned_ = static_cast<size_t>(node_.int_attr("num_scan_inputs", 1));
    axes_ = node_.ints_attr("scan_input_axes");
    turned_ = node_.ints_attr(node_.opset < 9 ? "directions" : "scan_input_directions");
    out_axes_ = node_.ints_attr("scan_output_axes");
    out_turned_ = node_.ints_attr("scan_output_directions");
  }

  Status run_with(Scratch& scratch, Inputs inputs, std::span<RunValue> outputs) const override {
    if (node_.opset < 9) return run_batches(inputs, outputs);
    scratch.formal.resize(formal_);
    for (size_t i = 0; i < formal_; ++i) scratch.formal[i] = *inputs[i];
    return scan(formal_ - scanned_, -1, inputs, outputs, scratch);
  }

  static int64_t at(const std::vector<int64_t>& list, size_t index) {
    return index < list.size() ? list[index] : 0;
  }

  // The axis along which scanned input `index` is cut.
  Result<int64_t> axis_of(const RunValue& value, size_t index) const {
    const auto rank = static_cast<int64_t>(value.shape.size());
    const int64_t wanted = at(axes_, index), axis = wanted < 0 ? wanted + rank : wanted;
    if (axis >= 0 && axis < rank) return axis;
    return fail(Code::invalid_argument, "{}: axis {} of a scanned input of shape {}", label(),
                wanted, to_string(value.shape));
  }

  // The slices that every scanned input has.
  Result<int64_t> count_slices(std::span<const RunValue> scanned) const {
    int64_t whole = -1;
    for (size_t i = 0; i < scanned.size(); ++i) {
      ANYNPU_ASSIGN(const int64_t axis, axis_of(scanned[i], i));
      const int64_t extent = scanned[i].shape[static_cast<size_t>(axis)];
      if (whole >= 0 && whole != extent) {
        return fail(Code::shape_mismatch,
                    "{}: scanned inputs have {} and {} slices; expected the same", label(), whole,
                    extent);
      }
      whole = extent;
    }
    return whole;
  }

  // One pass: scratch.formal are the states and, behind them, what is cut into slices. `length`
  // limits the iterations; -1 = the whole axis.
  Status scan(size_t states, int64_t length, Inputs inputs, std::span<RunValue> outputs,
              Scratch& scratch) const {
    auto& [formal, values, results, made] = scratch;
    ANYNPU_ASSIGN(const int64_t whole, count_slices(std::span(formal).subspan(states)));
    const int64_t count = length < 0 ? whole : std::min(length, whole);
    const size_t scans = outputs.size() - states;
    scratch.prepare(with_captures(formal.size(), inputs), outputs.size(), scans);
    set_captures(formal.size(), inputs, values);
    for (int64_t t = 0; t < count; ++t) {
      ANYNPU_TRY(check_cancelled(), "in iteration {} of {}", t, label());
      for (size_t i = 0; i < states; ++i) values[i] = formal[i];
      for (size_t i = states; i < formal.size(); ++i) {
        const int64_t index = at(turned_, i - states) != 0 ? count - 1 - t : t;
        ANYNPU_ASSIGN(const int64_t axis, axis_of(formal[i], i - states));
        ANYNPU_TRY(slice_of(formal[i], axis, index, values[i]));
      }
      ANYNPU_TRY(programs_[0]->run(values, results), "in iteration {}", t);
      for (size_t i = 0; i < states; ++i) std::swap(formal[i], results[i]);
      for (size_t i = 0; i < scans; ++i) std::swap(made[i].add(), results[states + i]);
    }
    for (size_t i = 0; i < states; ++i) std::swap(outputs[i], formal[i]);
    for (size_t i = 0; i < scans; ++i) {
      if (at(out_turned_, i) != 0) made[i].reverse();
      ANYNPU_TRY(stack(made[i], states + i, at(out_axes_, i), outputs[states + i]));
    }
    return {};
  }

  // Opset 8: every operand has a batch in front, each with a length of its own; what lies behind it
  // in the scanned outputs is 0. No longer in use: its runs allocate.
  Status run_batches(Inputs inputs, std::span<RunValue> outputs) const {
    const size_t states = formal_ - 1 - scanned_;
    if (inputs.size() < 2 || inputs[1]->shape.empty()) {
      return fail(Code::shape_mismatch, "{}: its inputs have no batch", label());
    }
    const int64_t batches = inputs[1]->shape[0];
    std::vector<RunItems> made(outputs.size());
    for (int64_t b = 0; b < batches; ++b) {
      Scratch scratch;
      scratch.formal.resize(formal_ - 1);
      for (size_t i = 1; i < formal_; ++i) {
        ANYNPU_TRY(slice_of(*inputs[i], 0, b, scratch.formal[i - 1]));
      }
      int64_t length = -1;
      if (inputs[0]->is_tensor()) {
        RunValue one;
        ANYNPU_TRY(slice_of(*inputs[0], 0, b, one));
        ANYNPU_ASSIGN(length, read_scalar(one, node_, "a sequence length"));
      }
      const Shape& cut = scratch.formal[states].shape;
      const int64_t whole = cut.empty() ? 0 : cut[0];
      std::vector<RunValue> results(outputs.size());
      ANYNPU_TRY(scan(states, length, inputs, results, scratch));
      for (size_t i = 0; i < results.size(); ++i) {
        RunValue& kept = made[i].add();
        if (i >= states && length >= 0 && length < whole) {
          ANYNPU_TRY(pad(results[i], whole, kept));
        } else {
          kept = std::move(results[i]);
        }
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      ANYNPU_TRY(stack(made[i], i, 0, outputs[i]));
    }
    return {};
  }

  static Status pad(const RunValue& tensor, int64_t length, RunValue& whole) {
    Shape shape = tensor.shape;
    shape[0] = length;
    ANYNPU_TRY(make_tensor(tensor.dtype, shape, whole));
    std::memset(whole.data.get(), 0, whole.bytes());
    std::memcpy(whole.data.get(), tensor.data.get(), tensor.bytes());
    return {};
  }

  size_t scanned_ = 1;
  std::vector<int64_t> axes_, turned_, out_axes_, out_turned_;
};

class SequenceMapStep final : public FlowStep {
  Status run_with(Scratch& scratch, Inputs inputs, std::span<RunValue> outputs) const override {
    if (inputs[0]->kind != RunValue::Kind::sequence) {
      return fail(Code::unsupported_dtype, "{}: its first input is no sequence", label());
    }
    const size_t count = inputs[0]->items->size();
    auto& [formal, values, results, made] = scratch;
    scratch.prepare(with_captures(formal_, inputs), outputs.size(), outputs.size());
    set_captures(formal_, inputs, values);
    for (size_t t = 0; t < count; ++t) {
      for (size_t i = 0; i < formal_; ++i) {
        const bool sequence = inputs[i]->kind == RunValue::Kind::sequence;
        if (sequence && inputs[i]->items->size() != count) {
          return fail(Code::shape_mismatch, "{}: its sequences have {} and {} elements", label(),
                      count, inputs[i]->items->size());
        }
        values[i] = sequence ? (*inputs[i]->items)[t] : *inputs[i];
      }
      ANYNPU_TRY(programs_[0]->run(values, results), "for element {}", t);
      for (size_t i = 0; i < results.size(); ++i) std::swap(made[i].add(), results[i]);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto items = take_items();
      std::swap(*items, made[i]);
      outputs[i].set_sequence(results_[i].dtype, std::move(items));
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
    auto ends = spare.take();
    if (!ends) ends = std::make_unique<Ends>();
    Status status = run(args, *ends);
    for (auto* list : {&ends->given, &ends->results}) {
      for (RunValue& value : *list) value.clear();
    }
    spare.give(std::move(ends));
    return status;
  }

 private:
  struct Ends {
    std::vector<RunValue> given, results;
    std::vector<const RunValue*> pointers;
  };
  mutable SparePool<Ends> spare;

  Status run(const ops::RunArgs& args, Ends& ends) const {
    auto& [given, results, pointers] = ends;
    given.resize(inputs.size());
    results.resize(outputs.size());
    pointers.clear();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].dtype != DType::undefined)
        given[i].set_borrowed(inputs[i].dtype, inputs[i].shape, args.inputs[i]);
      pointers.push_back(&given[i]);
    }
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

NodeRunnerResult make_flow_step(const graph::Node& node, const ops::Target& target,
                                const std::shared_ptr<StepObserver>& observer) {
  ANYNPU_TRY(graph::check_flow(node));
  auto step = new_flow_step(node);
  ANYNPU_TRY(step->prepare(node, target, observer));
  return std::unique_ptr<NodeRunner>(std::move(step));
}

Result<std::unique_ptr<ops::KernelPlan>> plan_flow(const graph::Node& node,
                                                   std::vector<TensorShape> inputs,
                                                   std::vector<TensorShape> outputs,
                                                   const ops::Target& target,
                                                   const std::shared_ptr<StepObserver>& observer) {
  auto plan = std::make_unique<FlowPlan>();
  ANYNPU_ASSIGN(plan->runner, make_flow_step(node, target, observer));
  plan->inputs = std::move(inputs);
  plan->outputs = std::move(outputs);
  plan->label = format("{} '{}'", node.op, node.name);
  return std::unique_ptr<ops::KernelPlan>(std::move(plan));
}

}  // namespace anynpu::exec
