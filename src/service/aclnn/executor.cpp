// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/executor.h"

#include <algorithm>

#include "aclnn/recipe.h"
#include "base/align.h"
#include "device/device.h"
#include "device/memory.h"
#include "device/queue.h"
#include "device/runtime.h"
#include "device/stream.h"
#include "service/aclnn/exchange.h"
#include "service/aclnn/joined_part.h"
#include "service/finalize.h"
#include "service/task_kinds.h"

namespace anynpu::service {

namespace {

using aclnn::Feed;
using aclnn::TensorView;

// With element-wise operators joined, where their kernels can run so.
Result<std::shared_ptr<exec::LoadedModel>> load_part(const aclnn::Part& part,
                                                     const exec::LoadOptions& options) {
  if (options.device) return exec::LoadedModel::load_without_work(part.graph, options);
  std::vector<graph::Graph> graphs = joined_graphs(part);
  for (size_t i = 0; i + 1 < graphs.size(); ++i) {
    if (auto model = exec::LoadedModel::load_without_work(graphs[i]); model.ok()) return model;
  }
  return exec::LoadedModel::load_without_work(graphs.back(), options);
}

Result<std::shared_ptr<const NnPlan>> make_plan(const ResolvedCall& resolved, const aclnn::Row& row,
                                                const std::shared_ptr<device::Device>& device) {
  ANYNPU_ASSIGN(aclnn::Built built, aclnn::build(resolved.call(), row));
  auto plan = std::make_shared<NnPlan>();
  plan->device = exec::plan_owner(*device) ? device : nullptr;
  exec::LoadOptions options;
  if (plan->device) options.run_on(device);
  for (aclnn::Part& part : built.parts) {
    NnPlan::Part ready;
    ANYNPU_ASSIGN(ready.model, load_part(part, options));
    ready.inputs = std::move(part.inputs);
    ready.outputs = std::move(part.outputs);
    ready.transfers = std::move(part.transfers);
    for (const Feed& feed : ready.outputs)
      ready.dynamic_shape = ready.dynamic_shape || feed.dynamic_shape;
    plan->feeds += ready.inputs.size() + ready.outputs.size();
    if (!ready.dynamic_shape) ready.work_bytes = ready.model->sizes().work_bytes;
    plan->work_bytes = std::max(plan->work_bytes, ready.work_bytes);
    plan->parts.push_back(std::move(ready));
  }
  if (built.shared_bytes > 0) {
    plan->shared_at = round_up(plan->work_bytes, size_t{64});
    plan->work_bytes = plan->shared_at + built.shared_bytes;
  }
  plan->read_values = std::move(built.read_values);
  const aclnn::Call call = resolved.call();
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const aclnn::Argument& argument = call.arguments[i];
    const bool list = argument.kind == aclnn::ArgumentKind::tensors;
    if (!list && argument.kind != aclnn::ArgumentKind::tensor) continue;
    plan->tensor_parameters.push_back({argument.first_tensor,
                                       list ? static_cast<uint32_t>(argument.tensors.size()) : 1,
                                       call.signature->outputs[i]});
  }
  return std::shared_ptr<const NnPlan>(std::move(plan));
}

Result<std::shared_ptr<const NnPlan>> find_plan(const ResolvedCall& resolved,
                                                const aclnn::Row& row) {
  ANYNPU_ASSIGN(const auto context, device::Runtime::instance().current());
  const auto& device = context->device();
  thread_local NnKey key;
  key.clear();
  key.add(reinterpret_cast<uintptr_t>(exec::plan_owner(*device)));
  resolved.make_key(row, key);
  NnPlanCache& cache = NnPlanCache::instance();
  if (auto known = cache.find(key, resolved.values())) return known;
  on_finalize([] { NnPlanCache::instance().clear(); });
  ANYNPU_ASSIGN(auto plan, make_plan(resolved, row, device));
  cache.add(key, plan);
  return plan;
}

// The memory of one feed, checked and held. Programs ask for the size of the workspace before they
// have memory: phase 2 refuses a tensor that has none by then.
Status bind(NnRun& run, size_t place, const Feed& feed, const TensorView& view, bool output) {
  run.buffers[place] = {view.data ? view.begin() : nullptr, feed.bytes};
  if (feed.bytes == 0 || !view.data) return {};
  ANYNPU_ASSIGN(
      auto range,
      device::check_range(view.begin(), feed.bytes,
                          output ? device::Access::write : device::Access::read, "a tensor"),
      "tensor {} of the call, {}", feed.index, aclnn::to_string(view));
  run.owners[place] = std::move(range.owner);
  return {};
}

// Calls visit(place among all feeds, feed, is an output).
template <typename Visit>
Status for_each_feed(const NnPlan& plan, Visit&& visit) {
  size_t place = 0;
  for (const NnPlan::Part& part : plan.parts) {
    for (const Feed& feed : part.inputs) ANYNPU_TRY(visit(place++, feed, false));
    for (const Feed& feed : part.outputs) ANYNPU_TRY(visit(place++, feed, true));
  }
  return {};
}

}  // namespace

bool NnRun::only_enqueues() const {
  return plan->device && std::all_of(plan->parts.begin(), plan->parts.end(), [](const auto& part) {
           return !part.dynamic_shape && part.model->only_enqueues();
         });
}

Status NnRun::run(device::Queue& queue, const Parts& parts) {
  const exec::Buffer* next = buffers.data() + parts.buffer;
  size_t next_dynamic = 0;
  for (size_t index = parts.first; index < parts.end; ++index) {
    const NnPlan::Part& part = plan->parts[index];
    const std::span in(next, part.inputs.size());
    const std::span out(next + in.size(), part.outputs.size());
    next += in.size() + out.size();
    if (!part.dynamic_shape) {
      ANYNPU_TRY(part.model->run(in, out, nullptr, part.work_bytes > 0 ? work : exec::Buffer{},
                                 plan->device ? &queue : nullptr));
      continue;
    }
    std::vector<Shape> shapes;
    ANYNPU_TRY(queue.drain());  // what the parts before did
    ANYNPU_TRY(part.model->run(in, out, &shapes));
    for (size_t i = 0; i < part.outputs.size(); ++i) {
      if (part.outputs[i].dynamic_shape)
        dynamic_outputs[next_dynamic++]->view.set_contiguous(shapes[i]);
    }
  }
  return {};
}

namespace {

// An array of the call, checked and copied.
Status bind_list(NnRun& run, size_t place, const Feed& feed, const ResolvedCall& resolved) {
  const aclnn::Call call = resolved.call();
  const auto ints = call.arguments[feed.index].ints;
  for (size_t i = 0; i < ints.size(); ++i) {
    if (ints[i] >= feed.least && ints[i] <= feed.most) continue;
    return fail(Code::invalid_argument, "{}[{}] is {}; expected {} to {}",
                call.signature->parameters[feed.index], i, ints[i], feed.least, feed.most);
  }
  run.lists.push_back(std::make_shared<std::vector<int64_t>>(ints.begin(), ints.end()));
  run.buffers[place] = {run.lists.back()->data(), feed.bytes};
  return {};
}

}  // namespace

Result<Prepared> prepare_nn(const NnOperator& op, std::span<const RawArgument> arguments) {
  ResolvedCall resolved;
  ANYNPU_TRY(resolved.resolve(op.signature, arguments));
  ANYNPU_ASSIGN(auto plan, find_plan(resolved, *op.row));
  ANYNPU_TRY(check_groups(*plan));
  auto run = std::make_shared<NnRun>();
  run->op = &op;
  run->buffers.resize(plan->feeds);
  run->owners.resize(plan->feeds);
  size_t numbers = 0;
  for (const NnPlan::Part& part : plan->parts) {
    for (const Feed& feed : part.inputs) numbers += feed.from == Feed::From::value;
  }
  run->values.reserve(numbers);  // buffers point into it
  ANYNPU_TRY(for_each_feed(*plan, [&](size_t place, const Feed& feed, bool output) -> Status {
    if (feed.from == Feed::From::value) {
      run->values.push_back(aclnn::converted(resolved.values()[feed.index], feed.dtype));
      run->buffers[place] = {run->values.back().bytes.data(), feed.bytes};
      return {};
    }
    if (feed.from == Feed::From::list) return bind_list(*run, place, feed, resolved);
    if (feed.from == Feed::From::shared) return {};  // in the workspace
    const auto& tensor = resolved.tensors()[feed.index];
    if (feed.dynamic_shape) run->dynamic_outputs.push_back(tensor);
    return bind(*run, place, feed, tensor->view, output);
  }));
  Prepared prepared;
  prepared.work_bytes = plan->work_bytes;
  run->plan = std::move(plan);
  auto executor = std::make_shared<NnExecutor>();
  executor->run = std::move(run);
  executor->held = resolved.take_tensors();
  prepared.executor = HandleTable::instance().insert(std::move(executor));
  if (prepared.executor) return prepared;
  return fail(Code::out_of_handles, "no handle is free; run or destroy executors");
}

namespace {

Status check_work(NnRun& run, const NnWork& work) {
  const size_t needed = run.plan->work_bytes;
  if (needed == 0) return {};
  if (!work.memory || work.bytes < needed) {
    return fail(Code::invalid_argument,
                "the workspace has {} bytes at {}; expected the {} that phase 1 of {} asked for",
                work.bytes, static_cast<const void*>(work.memory), needed, run.op->signature.name);
  }
  ANYNPU_ASSIGN(auto range,
                device::check_range(work.memory, needed, device::Access::write, "workspace"));
  run.work = {range.address, needed};
  run.work_owner = std::move(range.owner);
  return for_each_feed(*run.plan, [&](size_t place, const Feed& feed, bool) -> Status {
    if (feed.from == Feed::From::shared) run.buffers[place] = {run.shared(feed.offset), feed.bytes};
    return {};
  });
}

}  // namespace

namespace {

Status check_memory(const NnRun& run) {
  return for_each_feed(*run.plan, [&](size_t place, const Feed& feed, bool) -> Status {
    const bool tensor = feed.from == Feed::From::tensor && feed.bytes > 0;
    if (!tensor || run.buffers[place].data) return {};
    return fail(Code::invalid_address,
                "tensor {} of the call has no memory: its address is null, {} bytes are needed",
                feed.index, feed.bytes);
  });
}

}  // namespace

namespace {

// Parts as one task, and behind them what their last one exchanges: operations of the stream too.
Status submit(const std::shared_ptr<NnRun>& run, device::Stream& stream, Handle stream_handle) {
  device::TaskKind& kind = run->only_enqueues() ? queued_operator_task : operator_task;
  const auto& all = run->plan->parts;
  NnRun::Parts parts;
  for (size_t buffer = 0; parts.first < all.size();) {
    parts.buffer = buffer;
    parts.end = parts.first;
    do {
      buffer += all[parts.end].inputs.size() + all[parts.end].outputs.size();
    } while (all[parts.end++].transfers.empty() && parts.end < all.size());
    ANYNPU_TRY(stream.submit(kind, [run, parts](device::TaskRun& task) {
      return task.done(
          queued_by(run->op->signature.name.data(), run->run(task.stream().queue(), parts)));
    }));
    for (const aclnn::Transfer& transfer : all[parts.end - 1].transfers)
      ANYNPU_TRY(exchange(*run, transfer, stream, stream_handle));
    parts.first = parts.end;
  }
  return {};
}

}  // namespace

Status execute_nn(const NnOperator& op, const NnWork& work, Handle handle, Handle stream_handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  ANYNPU_ASSIGN(auto pin, resolve<NnExecutor>(handle));
  if (pin->run->op != &op) {
    return fail(Code::invalid_argument, "the executor was prepared by {}; expected one of {}",
                pin->run->op->signature.name, op.signature.name);
  }
  std::shared_ptr<NnRun> run = pin->run;
  if (pin->repeatable) {
    run = std::make_shared<NnRun>(*run);
    size_t next = 0;  // numbers are read from the copy
    ANYNPU_TRY(for_each_feed(*run->plan, [&](size_t place, const Feed& feed, bool) -> Status {
      if (feed.from == Feed::From::value)
        run->buffers[place].data = run->values[next++].bytes.data();
      return {};
    }));
  }
  ANYNPU_TRY(check_memory(*run));
  ANYNPU_TRY(check_work(*run, work));
  if (!pin->repeatable) (void)HandleTable::instance().remove<NnExecutor>(handle);
  if (run->plan->parts.empty()) return {};  // nothing is written: all outputs are empty
  if (run->plan->device && run->plan->device != stream->device()) {
    return fail(Code::wrong_context,
                "the executor was prepared on device {}, stream {} belongs to device {}; prepare "
                "it with the stream's device as the current one",
                run->plan->device->id(), stream->id(), stream->device()->id());
  }
  return submit(run, *stream, stream_handle);
}

Status make_repeatable(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<NnExecutor>(handle));
  pin->repeatable = true;
  pin->tensors.clear();
  for (const auto& tensor : pin->held) pin->tensors.push_back(tensor ? tensor->view : TensorView{});
  return {};
}

Status destroy_executor(Handle handle) { return destroy_nn_object<NnExecutor>(handle); }

namespace {

// Tensor number `tensor` of the call is at `address` from now on.
Status set_address(NnExecutor& executor, uint32_t tensor, void* address) {
  TensorView& view = executor.tensors[tensor];
  TensorView moved = view;
  moved.data = address;
  NnRun& run = *executor.run;
  ANYNPU_TRY(for_each_feed(*run.plan, [&](size_t place, const Feed& feed, bool output) -> Status {
    if (feed.from != Feed::From::tensor || feed.index != tensor) return {};
    return bind(run, place, feed, moved, output);
  }));
  view = moved;
  return {};
}

}  // namespace

Status set_tensor_address(Handle handle, NnSide side, size_t index, void* address) {
  return set_list_address(handle, side, index, 0, address);
}

Status set_list_address(Handle handle, NnSide side, size_t index, size_t item, void* address) {
  ANYNPU_ASSIGN(auto pin, resolve<NnExecutor>(handle));
  if (!pin->repeatable) {
    return fail(Code::bad_call_order,
                "the executor of {} is not repeatable; call aclSetAclOpExecutorRepeatable first",
                pin->run->op->signature.name);
  }
  size_t counted = 0;
  for (const NnPlan::TensorParameter& parameter : pin->run->plan->tensor_parameters) {
    const bool counts = side == NnSide::all || parameter.side == 'b' ||
                        (parameter.side == 'i') == (side == NnSide::inputs);
    if (!counts || counted++ != index) continue;
    if (item >= parameter.count) {
      return fail(Code::invalid_argument, "item {} is given a new address; the list has {}", item,
                  parameter.count);
    }
    return set_address(*pin, parameter.first + static_cast<uint32_t>(item), address);
  }
  return fail(Code::invalid_argument, "index {} is given; {} has {} tensors of that kind", index,
              pin->run->op->signature.name, counted);
}

}  // namespace anynpu::service
