// SPDX-License-Identifier: Apache-2.0
#include "exec/step_program.h"

#include <algorithm>
#include <cstring>

#include "compile/specialise.h"
#include "exec/observe.h"
#include "graph/flow.h"
#include "trace/trace.h"

namespace anynpu::exec {

namespace {

using graph::kNoValue;
using graph::ValueId;

const RunValue kNothing;

// Kernels read elements in place; a constant of a foreign file may start anywhere.
Result<RunValue> constant_value(const graph::Value& value) {
  const auto& bytes = value.constant->bytes;
  RunValue constant = RunValue::borrow(value.dtype, value.shape, bytes.data());
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(std::max_align_t) != 0) {
    RunValue copy;
    ANYNPU_TRY(make_tensor(value.dtype, value.shape, copy));
    std::memcpy(copy.data.get(), bytes.data(), std::min(bytes.size(), copy.bytes()));
    return copy;
  }
  constant.data = std::shared_ptr<std::byte>(
      value.constant, const_cast<std::byte*>(bytes.data()));  // nobody writes to it
  return constant;
}

}  // namespace

Result<std::shared_ptr<const StepProgram>> StepProgram::make(
    const graph::Graph& graph, const ops::Target& target,
    const std::shared_ptr<StepObserver>& observer) {
  auto program = std::make_shared<StepProgram>();
  program->target_ = target;
  program->observer_ = inside_a_run(observer);
  program->inputs_ = graph.inputs;
  program->outputs_ = graph.outputs;
  program->constants_.resize(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const graph::Value& value = graph.values[i];
    program->described_.push_back(value);
    program->described_.back().constant = nullptr;
    if (value.constant && bits_of(value.dtype) > 0) {
      ANYNPU_ASSIGN(program->constants_[i], constant_value(value));
    }
  }
  for (const Region& region : split_regions(graph)) {
    if (region.planned) {
      ANYNPU_TRY(program->add_plan(graph, region.nodes));
      continue;
    }
    for (size_t n : region.nodes) {
      ANYNPU_TRY(program->add_node(graph, graph.nodes[n]), "while preparing node '{}'",
                 graph.nodes[n].name);
    }
  }
  program->find_last_uses();
  return std::shared_ptr<const StepProgram>(std::move(program));
}

// A graph of its own: what comes from outside are its inputs, what anyone outside reads its
// outputs.
Status StepProgram::add_plan(const graph::Graph& graph, const std::vector<size_t>& nodes) {
  std::vector<bool> inside(graph.nodes.size(), false);
  for (size_t n : nodes) inside[n] = true;
  std::vector<bool> made(graph.values.size(), false), read_outside(graph.values.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].outputs) {
      if (id != kNoValue && inside[n]) made[static_cast<size_t>(id)] = true;
    }
    for (ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue && !inside[n]) read_outside[static_cast<size_t>(id)] = true;
    }
  }
  for (ValueId id : graph.outputs) read_outside[static_cast<size_t>(id)] = true;

  graph::Graph part;
  part.name = graph.name;
  ProgramStep step;
  std::vector<ValueId> ids(graph.values.size(), kNoValue);
  const auto enter = [&](ValueId id) {
    if (id == kNoValue) return kNoValue;
    ValueId& own = ids[static_cast<size_t>(id)];
    if (own != kNoValue) return own;
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    own = part.add_value(value);
    if (!value.constant && !made[static_cast<size_t>(id)]) {
      part.inputs.push_back(own);
      step.inputs.push_back(id);
    }
    return own;
  };
  for (size_t n : nodes) {
    graph::Node node = graph.nodes[n];
    for (ValueId& id : node.inputs) id = enter(id);
    for (ValueId& id : node.outputs) id = enter(id);
    part.nodes.push_back(std::move(node));
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!made[i] || !read_outside[i]) continue;
    part.outputs.push_back(ids[i]);
    step.outputs.push_back(static_cast<ValueId>(i));
  }
  if (part.outputs.empty()) return {};
  ANYNPU_TRY(part.verify());
  ANYNPU_TRY(compile::optimise_shaped(part));
  LoadOptions options;
  options.target = target_;
  options.observer = observer_;
  ANYNPU_ASSIGN(step.plan, LoadedModel::load(part, options));
  step.name = "plan";
  steps_.push_back(std::move(step));
  return {};
}

Status StepProgram::add_node(const graph::Graph& graph, const graph::Node& node) {
  ProgramStep step;
  step.inputs = node.inputs;
  step.outputs = node.outputs;
  step.name = node.name;
  step.op = node.op;
  step.observed = observer_ && !graph::has_subgraphs(node) && observer_->wants(node.op, node.name);
  step.trace_name = trace::intern(node.name);
  // Shapes differ from run to run: those fields stay empty (describe_step.h).
  step.description = trace::intern(node.op + "\tstep\t\t\t\t\t\t");
  if (graph::has_subgraphs(node)) {
    ANYNPU_ASSIGN(step.node, make_flow_step(node, target_, observer_));
  } else if (is_sequence_op(node)) {
    ANYNPU_ASSIGN(step.node, make_sequence_step(node));
  } else {
    ANYNPU_ASSIGN(step.node, make_operator_step(graph, node, target_));
  }
  steps_.push_back(std::move(step));
  return {};
}

void StepProgram::find_last_uses() {
  std::vector<bool> needed(constants_.size(), false);
  for (ValueId id : outputs_) needed[static_cast<size_t>(id)] = true;
  for (size_t s = steps_.size(); s-- > 0;) {
    for (const auto* ids : {&steps_[s].inputs, &steps_[s].outputs}) {
      for (ValueId id : *ids) {
        if (id == kNoValue || needed[static_cast<size_t>(id)]) continue;
        needed[static_cast<size_t>(id)] = true;
        steps_[s].done.push_back(id);
      }
    }
  }
}

const RunValue& StepProgram::value(const Frame& frame, ValueId id) const {
  if (id == kNoValue) return kNothing;
  const RunValue& constant = constants_[static_cast<size_t>(id)];
  return constant.is_tensor() ? constant : frame[static_cast<size_t>(id)];
}

Status StepProgram::run(std::span<const RunValue> inputs, std::span<RunValue> results) const {
  auto state = states_.take();
  if (!state) {
    state = std::make_unique<State>();
    state->frame.resize(constants_.size());
  }
  Frame& frame = state->frame;
  for (size_t i = 0; i < inputs_.size() && i < inputs.size(); ++i) {
    frame[static_cast<size_t>(inputs_[i])] = inputs[i];
  }
  ANYNPU_TRY(run_steps(*state));  // after a failure it is not used again
  for (size_t i = 0; i < outputs_.size(); ++i) results[i] = value(frame, outputs_[i]);
  for (RunValue& each : frame) each.clear();
  states_.give(std::move(state));
  return {};
}

Status StepProgram::run_steps(State& state) const {
  const uint32_t correlation = trace::current_correlation();
  for (const ProgramStep& step : steps_) {
    if (step.plan) {
      ANYNPU_TRY(run_plan(step, state));
    } else {
      const trace::TraceZone zone(trace::Category::op, step.trace_name, correlation,
                                  step.description);
      ANYNPU_TRY(run_node(step, state));
    }
    for (ValueId id : step.done) state.frame[static_cast<size_t>(id)].clear();
  }
  return {};
}

Status StepProgram::run_plan(const ProgramStep& step, State& state) const {
  state.in.clear();
  state.out.clear();
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const RunValue& given = value(state.frame, step.inputs[i]);
    const TensorInfo& info = step.plan->inputs()[i];
    if (!given.is_tensor() || given.shape != info.shape || given.dtype != info.dtype) {
      return fail(Code::shape_mismatch,
                  "value '{}' has {} {} in this run, the model states {} {}; feed values that fit, "
                  "or compile the model with another shape",
                  info.name, name_of(given.dtype), to_string(given.shape), name_of(info.dtype),
                  to_string(info.shape));
    }
    state.in.push_back({given.data.get(), given.bytes()});
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const TensorInfo& info = step.plan->outputs()[i];
    RunValue& made = state.frame[static_cast<size_t>(step.outputs[i])];
    ANYNPU_TRY(make_tensor(info.dtype, info.shape, made));
    state.out.push_back({made.data.get(), made.bytes()});
  }
  return step.plan->run(state.in, state.out);
}

Status StepProgram::run_node(const ProgramStep& step, State& state) const {
  auto& inputs = state.inputs;
  inputs.clear();
  for (ValueId id : step.inputs) inputs.push_back(&value(state.frame, id));
  if (state.outputs.size() < step.outputs.size()) state.outputs.resize(step.outputs.size());
  const std::span<RunValue> outputs(state.outputs.data(), step.outputs.size());
  ANYNPU_TRY(step.observed ? run_observed(step, inputs, outputs) : step.node->run(inputs, outputs),
             "while running node '{}'", step.name);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (step.outputs[i] == kNoValue) {
      outputs[i].clear();
      continue;
    }
    const graph::Value& stated = described_[static_cast<size_t>(step.outputs[i])];
    const bool fixed = stated.has_shape && is_static(stated.shape) && outputs[i].is_tensor();
    if (fixed && outputs[i].shape != stated.shape) {
      return fail(Code::shape_mismatch,
                  "node '{}' gives '{}' the shape {} in this run, the model states {}; feed values "
                  "that fit, or compile the model with another shape",
                  step.name, stated.name, to_string(outputs[i].shape), to_string(stated.shape));
    }
    std::swap(state.frame[static_cast<size_t>(step.outputs[i])], outputs[i]);
    outputs[i].clear();
  }
  return {};
}

Status StepProgram::run_observed(const ProgramStep& step, std::span<const RunValue* const> inputs,
                                 std::span<RunValue> outputs) const {
  const auto tensor = [](const RunValue& value) {
    StepTensor made;
    if (!value.is_tensor()) return made;
    return StepTensor{value.dtype, value.shape, ops::Layout::plain, value.data.get()};
  };
  std::vector<StepTensor> in, out;
  for (const RunValue* value : inputs) in.push_back(tensor(*value));
  const auto index = static_cast<size_t>(&step - steps_.data());
  Status status = observer_->before({index, step.op, step.name, in, out});
  if (status.ok()) status = step.node->run(inputs, outputs);
  if (!status.ok()) {
    observer_->failed({index, step.op, step.name, in, out}, status);
    return status;
  }
  for (const RunValue& value : outputs) out.push_back(tensor(value));
  return observer_->after({index, step.op, step.name, in, out});
}

Sizes StepProgram::sizes() const {
  Sizes all;
  for (const ProgramStep& step : steps_) {
    if (!step.plan) continue;
    all.weight_bytes += step.plan->sizes().weight_bytes;
    all.work_bytes += step.plan->sizes().work_bytes;
  }
  return all;
}

std::vector<StepInfo> StepProgram::steps() const {
  std::vector<StepInfo> list;
  for (const ProgramStep& step : steps_) {
    if (!step.plan) {
      list.push_back({step.name, "step", 0});
      continue;
    }
    for (StepInfo& inner : step.plan->steps()) list.push_back(std::move(inner));
  }
  return list;
}

}  // namespace anynpu::exec
