// SPDX-License-Identifier: Apache-2.0
#include "service/model/failed_ops.h"

#include <tuple>

#include "base/handle_table.h"
#include "exec/runner.h"

namespace anynpu::service {

namespace {

constexpr size_t kMostFailures = 64;

TensorDesc describe_value(const graph::Value& value) {
  TensorDesc desc;
  desc.name = value.name;
  desc.dtype = value.dtype;
  desc.format = value.format;
  desc.shape = value.shape;
  return desc;
}

// Weights that a kernel has packed have no address.
void set_addresses(const std::vector<size_t>& operands, const std::vector<const void*>& addresses,
                   std::vector<TensorDesc>& descs) {
  for (size_t i = 0; i < descs.size() && i < operands.size(); ++i) {
    if (operands[i] < addresses.size())
      descs[i].address = const_cast<void*>(addresses[operands[i]]);
  }
}

// One description that holds several.
Handle make_list(const std::vector<TensorDesc>& descs) {
  auto list = std::make_shared<TensorDesc>();
  for (const TensorDesc& desc : descs) list->list.push_back(std::make_shared<TensorDesc>(desc));
  return HandleTable::instance().insert(std::move(list));
}

}  // namespace

std::vector<OpInfo> describe_ops(const om::Model& model) {
  std::vector<OpInfo> ops;
  if (model.meta.is_dynamic()) return ops;
  ops.reserve(model.graph.nodes.size());
  for (const graph::Node& node : model.graph.nodes) {
    OpInfo op{node.name, {}, {}};
    for (const auto& [ids, descs, operands] :
         {std::tuple{&node.inputs, &op.inputs, &op.input_at},
          std::tuple{&node.outputs, &op.outputs, &op.output_at}}) {
      for (size_t i = 0; i < ids->size(); ++i) {
        if ((*ids)[i] == graph::kNoValue) continue;
        descs->push_back(describe_value(model.graph.values[static_cast<size_t>((*ids)[i])]));
        operands->push_back(i);
      }
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

FailedOps& FailedOps::instance() {
  static auto* one = new FailedOps;  // never destroyed: used until the process ends
  return *one;
}

std::optional<OpInfo>& FailedOps::noted_in_this_thread() {
  thread_local std::optional<OpInfo> noted;
  return noted;
}

void FailedOps::note(OpInfo op) { noted_in_this_thread() = std::move(op); }

void FailedOps::note(const std::vector<OpInfo>& ops) {
  std::optional<OpInfo>& noted = noted_in_this_thread();
  noted.reset();
  for (const OpInfo& op : ops) {
    if (op.name == exec::failed_step()) noted = op;
  }
  if (noted) {
    const exec::StepAddresses& at = exec::failed_addresses();
    set_addresses(noted->input_at, at.inputs, noted->inputs);
    set_addresses(noted->output_at, at.outputs, noted->outputs);
  }
  exec::forget_failed_step();
}

void FailedOps::file(const device::TaskFailure& failure) {
  std::optional<OpInfo>& noted = noted_in_this_thread();
  if (!noted) return;
  const std::lock_guard lock(mutex_);
  failures_.push_back({static_cast<uint32_t>(failure.device_id), failure.stream_id, failure.task_id,
                       std::move(*noted)});
  if (failures_.size() > kMostFailures) failures_.pop_front();
  noted.reset();
}

Result<OpInfo> FailedOps::find(uint32_t device, uint32_t stream, uint32_t task) {
  const std::lock_guard lock(mutex_);
  for (auto entry = failures_.rbegin(); entry != failures_.rend(); ++entry) {
    if (entry->device == device && entry->stream == stream && entry->task == task) return entry->op;
  }
  return fail(Code::invalid_argument,
              "no operator of a model failed in task {} of stream {} on device {}; pass the ids "
              "that the exception callback was given",
              task, stream, device);
}

Result<OpHandles> describe_failed_op(uint32_t device, uint32_t stream, uint32_t task,
                                     size_t name_room) {
  ANYNPU_ASSIGN(const OpInfo op, FailedOps::instance().find(device, stream, task));
  if (op.name.size() >= name_room) {
    return fail(Code::invalid_argument,
                "opNameLen is {}, the operator '{}' needs {}; pass a larger buffer", name_room,
                op.name, op.name.size() + 1);
  }
  return OpHandles{op.name, make_list(op.inputs), make_list(op.outputs), op.inputs.size(),
                   op.outputs.size()};
}

}  // namespace anynpu::service
