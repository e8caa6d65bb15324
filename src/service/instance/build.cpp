// SPDX-License-Identifier: Apache-2.0
#include "service/instance/build.h"

#include "device/memory.h"
#include "device/runtime.h"
#include "service/instance/label.h"
#include "service/instance/last_task.h"
#include "service/instance/tasks.h"

namespace anynpu::service {

using device::Event;
using device::EventUse;
using device::Runtime;
using device::Stream;

namespace {

constexpr uint32_t kPersistent = 4;  // flag of a stream

// What the threads that build one instance share.
std::mutex& build_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

Result<std::shared_ptr<Instance>> built_instance(Handle handle) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  if (instance->origin() == Instance::Origin::built) return instance;
  return fail(Code::invalid_argument,
              "model instance {} was captured; expected one of aclmdlRIBuildBegin", instance->id());
}

Result<std::shared_ptr<BoundStream>> bound_to(const Instance& instance, const Stream& stream) {
  ANYNPU_ASSIGN(auto bound, bound_stream(stream));
  if (bound->instance().get() == &instance) return bound;
  return fail(Code::stream_not_of_instance, "stream {} is bound to another model instance than {}",
              stream.id(), instance.id());
}

Result<std::shared_ptr<Stream>> named_stream(Handle handle, const char* name) {
  if (handle) return Runtime::instance().stream(handle);
  return fail(Code::invalid_handle, "{} is null; the default stream cannot be part of an instance",
              name);
}

}  // namespace

bool is_bound(const Stream& stream) { return bound_stream(stream).ok(); }

Result<std::shared_ptr<BoundStream>> bound_stream(const Stream& stream) {
  if (auto bound = std::dynamic_pointer_cast<BoundStream>(stream.recorder())) return bound;
  return fail(Code::stream_not_of_instance,
              "stream {} is not bound to a model instance; call aclmdlRIBindStream first",
              stream.id());
}

Status BoundStream::check_open(const Stream& stream) const {
  if (instance_->state() == Instance::State::open) return {};
  return fail(Code::bad_call_order,
              "model instance {} is built; stream {} takes no more tasks until it is unbound",
              instance_->id(), stream.id());
}

Result<uint32_t> BoundStream::keep(Stream& stream, std::unique_ptr<device::KeptTask> kept) {
  std::lock_guard lock(build_mutex());
  ANYNPU_TRY(check_open(stream));
  RecordedTask& task = instance_->add_task(lane_, TaskRole::work);
  task.kind = &kept->kind();
  task.set_work(std::move(kept));
  note_last_task(instance_, task);
  return task.number;
}

Result<RecordedTask*> BoundStream::add(Stream& stream, TaskRole role) {
  std::lock_guard lock(build_mutex());
  ANYNPU_TRY(check_open(stream));
  RecordedTask& task = instance_->add_task(lane_, role);
  note_last_task(instance_, task);
  return &task;
}

// One a event: a wait may be recorded before the record.
uint32_t BoundStream::join_of(const Event& event) {
  for (const Lane& lane : instance_->lanes()) {
    for (const auto& task : lane.tasks) {
      if (task->event.get() == &event) return task->join;
    }
  }
  return instance_->add_join();
}

Status BoundStream::add_event(Stream& stream, Event& event, TaskRole role) {
  std::lock_guard lock(build_mutex());
  ANYNPU_TRY(check_open(stream));
  const uint32_t join = join_of(event);
  RecordedTask& task = instance_->add_task(lane_, role);
  task.event = event.shared_from_this();
  task.join = join;
  note_last_task(instance_, task);
  return {};
}

Status BoundStream::record(Stream& stream, Event& event, EventUse use) {
  if (use == EventUse::inside) return add_event(stream, event, TaskRole::record);
  return fail(Code::invalid_argument, "the flag EXTERNAL (1) is for streams that are captured");
}

Status BoundStream::wait(Stream& stream, Event& event, EventUse use) {
  if (use == EventUse::inside) return add_event(stream, event, TaskRole::wait);
  return fail(Code::invalid_argument, "the flag EXTERNAL (1) is for streams that are captured");
}

Status BoundStream::reset(Stream& stream, Event& event) {
  return add_event(stream, event, TaskRole::reset);
}

Result<Handle> begin_build() {
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  ANYNPU_ASSIGN(auto instance, Instance::create(Instance::Origin::built, context));
  return instance->handle();
}

Status bind_stream(Handle handle, Handle stream_handle, uint32_t flag) {
  ANYNPU_ASSIGN(auto instance, built_instance(handle));
  if (flag != kHeadStream && flag != kOtherStream) {
    return fail(Code::invalid_argument, "flag is {:#x}; expected 0 (head) or {:#x}", flag,
                kOtherStream);
  }
  ANYNPU_ASSIGN(auto stream, named_stream(stream_handle, "stream"));
  if (!(stream->options().flags & kPersistent)) {
    return fail(
        Code::invalid_argument,
        "stream {} has the flags {:#x}; create it with ACL_STREAM_PERSISTENT (4) to bind it",
        stream->id(), stream->options().flags);
  }
  if (stream->context() != instance->context()) {
    return fail(Code::wrong_context, "stream {} and model instance {} are of different contexts",
                stream->id(), instance->id());
  }
  std::lock_guard lock(build_mutex());
  if (instance->state() != Instance::State::open || stream->recorder()) {
    return fail(Code::bad_call_order, "stream {} cannot be bound: {}", stream->id(),
                stream->recorder() ? "it is bound or captured already"
                                   : "the build of the instance has ended");
  }
  const uint32_t lane = instance->add_lane(stream);
  instance->lanes()[lane].handle = stream_handle;
  instance->lanes()[lane].head = flag == kHeadStream;
  instance->lanes()[lane].bound = true;
  stream->set_recorder(std::make_shared<BoundStream>(instance, lane));
  return {};
}

Status unbind_stream(Handle handle, Handle stream_handle) {
  ANYNPU_ASSIGN(auto instance, built_instance(handle));
  ANYNPU_ASSIGN(auto stream, named_stream(stream_handle, "stream"));
  ANYNPU_ASSIGN(auto bound, bound_to(*instance, *stream));
  if (instance->in_use()) {
    return fail(Code::instance_running,
                "model instance {} is queued or running; wait for it before a stream is unbound",
                instance->id());
  }
  std::lock_guard lock(build_mutex());
  instance->lanes()[bound->lane()].bound = false;
  instance->lanes()[bound->lane()].handle = 0;
  stream->set_recorder(nullptr);
  return {};
}

Status add_end_task(Handle handle, Handle stream_handle) {
  ANYNPU_ASSIGN(auto instance, built_instance(handle));
  ANYNPU_ASSIGN(auto stream, named_stream(stream_handle, "stream"));
  ANYNPU_ASSIGN(auto bound, bound_to(*instance, *stream));
  return bound->add(*stream, TaskRole::end).status();
}

Status end_build(Handle handle) {
  ANYNPU_ASSIGN(auto instance, built_instance(handle));
  std::lock_guard lock(build_mutex());
  if (instance->state() != Instance::State::open) {
    return fail(Code::bad_call_order, "the build of model instance {} has ended already",
                instance->id());
  }
  // An event that nothing inside records is recorded outside.
  for (Lane& lane : instance->lanes()) {
    for (const auto& wait : lane.tasks) {
      if (wait->role != TaskRole::wait && wait->role != TaskRole::reset) continue;
      bool inside = false;
      for (const Lane& other : instance->lanes()) {
        for (const auto& task : other.tasks) {
          inside |= task->role == TaskRole::record && task->event == wait->event;
        }
      }
      if (inside) continue;
      if (wait->role == TaskRole::wait) wait->role = TaskRole::wait_flag;
      if (wait->role == TaskRole::reset) wait->join = UINT32_MAX;
    }
  }
  instance->finish();
  return {};
}

Status clean_persistent_tasks(Handle stream_handle) {
  ANYNPU_ASSIGN(auto stream, named_stream(stream_handle, "stream"));
  if (!(stream->options().flags & kPersistent)) {
    return fail(Code::invalid_argument,
                "stream {} has the flags {:#x}; only one of ACL_STREAM_PERSISTENT (4) keeps tasks",
                stream->id(), stream->options().flags);
  }
  const auto bound = std::dynamic_pointer_cast<BoundStream>(stream->recorder());
  if (!bound) return {};
  const auto& instance = bound->instance();
  if (instance->in_use()) {
    return fail(Code::instance_running, "model instance {} is queued or running", instance->id());
  }
  std::lock_guard lock(build_mutex());
  forget_last_task();
  Lane& lane = instance->lanes()[bound->lane()];
  for (const auto& task : lane.tasks) {
    if (task->role == TaskRole::label) task->label->set = false;
    if (task->handle) HandleTable::instance().remove<InstanceTask>(task->handle);
  }
  lane.program.clear();
  lane.tasks.clear();
  instance->reopen();
  return {};
}

Status activate_stream(Handle active, Handle stream_handle) {
  ANYNPU_ASSIGN(auto stream, named_stream(stream_handle, "stream"));
  ANYNPU_ASSIGN(auto target, named_stream(active, "activeStream"));
  ANYNPU_ASSIGN(auto bound, bound_stream(*stream));
  ANYNPU_ASSIGN(auto other, bound_to(*bound->instance(), *target));
  ANYNPU_ASSIGN(RecordedTask * task, bound->add(*stream, TaskRole::activate));
  task->target = other->lane();
  return {};
}

Status switch_stream(const SwitchStream& test, Handle target_handle, Handle stream_handle) {
  if (test.comparison > 5 || test.type > 1) {
    return fail(Code::invalid_argument,
                "the condition is {} and the type {}; expected 0 to 5 and 0 (int32) or 1 (int64)",
                test.comparison, test.type);
  }
  ANYNPU_ASSIGN(auto stream, named_stream(stream_handle, "stream"));
  ANYNPU_ASSIGN(auto target, named_stream(target_handle, "trueStream"));
  ANYNPU_ASSIGN(auto bound, bound_stream(*stream));
  ANYNPU_ASSIGN(auto other, bound_to(*bound->instance(), *target));
  LaneSwitch compare;
  const size_t bytes = test.type ? 8 : 4;
  ANYNPU_ASSIGN(compare.left,
                device::check_range(test.left, bytes, device::Access::read, "leftValue"));
  ANYNPU_ASSIGN(compare.right,
                device::check_range(test.right, bytes, device::Access::read, "rightValue"));
  compare.comparison = static_cast<Comparison>(test.comparison);
  compare.wide = test.type == 1;
  ANYNPU_ASSIGN(RecordedTask * task, bound->add(*stream, TaskRole::switch_lane));
  task->compare = std::move(compare);
  task->target = other->lane();
  return {};
}

}  // namespace anynpu::service
