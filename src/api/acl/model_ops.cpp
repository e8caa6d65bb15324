// SPDX-License-Identifier: Apache-2.0
#include "api/acl/model_ops.h"

#include <cstring>
#include <deque>
#include <mutex>
#include <optional>

#include "acl/mdl/desc.h"
#include "api/acl/entry.h"
#include "exec/runner.h"

namespace anynpu::acl {

namespace {

constexpr size_t kMostFailures = 64;

struct FailedOp {
  uint32_t device, stream, task;
  OpInfo op;
};

std::mutex mutex;  // guards failures
std::deque<FailedOp>& failures() {
  static auto* list = new std::deque<FailedOp>;  // never destroyed: used until the process ends
  return *list;
}
thread_local std::optional<OpInfo> noted;

TensorDesc describe_value(const graph::Value& value) {
  TensorDesc desc;
  desc.name = value.name;
  desc.dtype = value.dtype;
  desc.format = value.format;
  desc.shape = value.shape;
  return desc;
}

// One description that stands for several: aclGetTensorDescByIndex takes them out.
Handle make_list(const std::vector<TensorDesc>& descs) {
  auto list = std::make_shared<TensorDesc>();
  for (const TensorDesc& desc : descs) list->list.push_back(std::make_shared<TensorDesc>(desc));
  return HandleTable::instance().insert(std::move(list));
}

// Weights that a kernel has packed have no address of their own.
void set_addresses(const std::vector<size_t>& places, const std::vector<const void*>& addresses,
                   std::vector<TensorDesc>& descs) {
  for (size_t i = 0; i < descs.size() && i < places.size(); ++i) {
    if (places[i] < addresses.size()) descs[i].address = const_cast<void*>(addresses[places[i]]);
  }
}

Result<OpInfo> find_failed(uint32_t device, uint32_t stream, uint32_t task) {
  const std::lock_guard lock(mutex);
  for (auto entry = failures().rbegin(); entry != failures().rend(); ++entry) {
    if (entry->device == device && entry->stream == stream && entry->task == task) return entry->op;
  }
  return fail(Code::invalid_argument,
              "no operator of a model failed in task {} of stream {} on device {}; pass the ids "
              "that the exception callback was given",
              task, stream, device);
}

}  // namespace

std::vector<OpInfo> describe_ops(const om::Model& model) {
  std::vector<OpInfo> ops;
  if (model.meta.is_dynamic()) return ops;
  ops.reserve(model.graph.nodes.size());
  for (const graph::Node& node : model.graph.nodes) {
    OpInfo op{node.name, {}, {}};
    for (const auto& [ids, descs, places] :
         {std::tuple{&node.inputs, &op.inputs, &op.input_at},
          std::tuple{&node.outputs, &op.outputs, &op.output_at}}) {
      for (size_t i = 0; i < ids->size(); ++i) {
        if ((*ids)[i] == graph::kNoValue) continue;
        descs->push_back(describe_value(model.graph.values[static_cast<size_t>((*ids)[i])]));
        places->push_back(i);
      }
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

void note_failed_op(OpInfo op) { noted = std::move(op); }

void note_failed_op(const std::vector<OpInfo>& ops) {
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

void file_failed_op(const device::TaskFailure& failure) {
  if (!noted) return;
  const std::lock_guard lock(mutex);
  failures().push_back({static_cast<uint32_t>(failure.device_id), failure.stream_id,
                        failure.task_id, std::move(*noted)});
  if (failures().size() > kMostFailures) failures().pop_front();
  noted.reset();
}

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

aclError aclmdlCreateAndGetOpDesc(uint32_t deviceId, uint32_t streamId, uint32_t taskId,
                                  char* opName, size_t opNameLen, aclTensorDesc** inputDesc,
                                  size_t* numInputs, aclTensorDesc** outputDesc,
                                  size_t* numOutputs) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(opName, "opName"));
    ANYNPU_TRY(check_pointer(inputDesc, "inputDesc"));
    ANYNPU_TRY(check_pointer(numInputs, "numInputs"));
    ANYNPU_TRY(check_pointer(outputDesc, "outputDesc"));
    ANYNPU_TRY(check_pointer(numOutputs, "numOutputs"));
    ANYNPU_ASSIGN(const OpInfo op, find_failed(deviceId, streamId, taskId));
    if (op.name.size() >= opNameLen) {
      return fail(Code::invalid_argument,
                  "opNameLen is {}, the operator '{}' needs {}; pass a larger buffer", opNameLen,
                  op.name, op.name.size() + 1);
    }
    std::memcpy(opName, op.name.c_str(), op.name.size() + 1);
    *inputDesc = from_handle<aclTensorDesc*>(make_list(op.inputs));
    *outputDesc = from_handle<aclTensorDesc*>(make_list(op.outputs));
    *numInputs = op.inputs.size();
    *numOutputs = op.outputs.size();
    return {};
  });
}
