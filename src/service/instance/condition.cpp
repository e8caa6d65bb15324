// SPDX-License-Identifier: Apache-2.0
#include "service/instance/condition.h"

#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/instance/capture.h"

namespace anynpu::service {

namespace {

constexpr uint32_t kMostBodies = 4096;

Status check_bodies(const ConditionTask& task) {
  const uint32_t most = task.kind == 0 ? 2 : task.kind == 1 ? 1 : kMostBodies;
  if (task.kind > 2) {
    return fail(Code::invalid_argument,
                "the type of the condition is {}; expected 0 (if), 1 (while) or 2 (switch)",
                task.kind);
  }
  if (task.bodies >= 1 && task.bodies <= most) return {};
  return fail(Code::invalid_argument, "size is {}; a condition of type {} has 1 to {} instances",
              task.bodies, task.kind, most);
}

}  // namespace

Result<Handle> create_condition(Handle handle, uint32_t start, bool each_run) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  if (instance->origin() == Instance::Origin::built || instance->state() != Instance::State::open) {
    return fail(Code::invalid_argument,
                "model instance {} is not being captured; take the one of aclmdlRICaptureGetInfo",
                instance->id());
  }
  auto condition = std::make_shared<Condition>();
  ANYNPU_ASSIGN(void* memory,
                device::allocate_device(*instance->context()->device(), sizeof(uint64_t), {}));
  condition->value = static_cast<uint64_t*>(memory);
  condition->owner = instance;
  condition->start = start;
  condition->starts_each_run = each_run;
  const uint64_t first = start;
  ANYNPU_TRY(device::copy_bytes(memory, &first, sizeof first));
  condition->handle = HandleTable::instance().insert(condition);
  if (!condition->handle) {
    (void)device::free_device(memory);
    return fail(Code::out_of_handles, "no handle is free for another condition");
  }
  instance->add_condition(condition);
  return condition->handle;
}

Result<uint64_t*> condition_value(Handle handle) {
  ANYNPU_ASSIGN(auto condition, resolve<Condition>(handle));
  return condition->value;
}

Result<std::vector<Handle>> add_condition_task(const ConditionTask& request, Handle stream_handle) {
  ANYNPU_TRY(check_bodies(request));
  ANYNPU_ASSIGN(auto pin, resolve<Condition>(request.condition));
  const auto condition = pin.share();
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  ANYNPU_ASSIGN(auto capture, capture_of(*stream));
  if (condition->owner.lock() != capture->instance()) {
    return fail(Code::invalid_argument,
                "the condition was made for another model instance than stream {} is captured into",
                stream->id());
  }
  if (condition->used) {
    return fail(Code::invalid_argument,
                "the condition has a task already; create one for each condition task");
  }
  std::vector<Handle> handles;
  for (uint32_t i = 0; i < request.bodies; ++i) {
    ANYNPU_ASSIGN(auto body,
                  Instance::create(Instance::Origin::nested, capture->instance()->context()));
    condition->bodies.push_back(body);
    handles.push_back(body->handle());
  }
  ANYNPU_ASSIGN(RecordedTask * task, capture->add(*stream, TaskRole::condition));
  condition->used = true;
  condition->kind = static_cast<Condition::Kind>(request.kind);
  task->condition = condition;
  return handles;
}

}  // namespace anynpu::service
