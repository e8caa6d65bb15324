// SPDX-License-Identifier: Apache-2.0
#include "service/instance/tasks.h"

#include <algorithm>

#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "device/value_wait.h"
#include "service/instance/build.h"
#include "service/instance/task_group.h"
#include "service/kernel/kernel_launch.h"

namespace anynpu::service {

using device::Stream;

namespace {

// Stands for a captured stream of an instance: it shows tasks and takes none.
class ShownStream final : public device::TaskRecorder {
 public:
  ShownStream(std::weak_ptr<Instance> instance, uint32_t lane)
      : instance_(std::move(instance)), lane_(lane) {}
  Result<uint32_t> keep(Stream&, std::unique_ptr<device::KeptTask>) override { return refuse(); }
  Status record(Stream&, device::Event&, device::EventUse) override { return refuse(); }
  Status wait(Stream&, device::Event&, device::EventUse) override { return refuse(); }
  Status reset(Stream&, device::Event&) override { return refuse(); }
  Status join(Stream&, device::Event&) override { return refuse(); }
  bool open() const override { return false; }
  Status asked(std::string_view) override { return {}; }
  std::shared_ptr<Instance> instance() const { return instance_.lock(); }
  uint32_t lane() const { return lane_; }

 private:
  static Status refuse() {
    return fail(Code::invalid_stream,
                "the stream belongs to a captured model instance; it shows tasks and takes none");
  }
  const std::weak_ptr<Instance> instance_;
  const uint32_t lane_;
};

Status show_lane(Instance& instance, uint32_t lane) {
  auto stream = std::make_shared<Stream>(instance.context()->device(), instance.context(),
                                         device::StreamOptions{});
  stream->set_recorder(std::make_shared<ShownStream>(instance.weak_from_this(), lane));
  instance.lanes()[lane].handle = HandleTable::instance().insert(stream);
  if (instance.lanes()[lane].handle) return {};
  return fail(Code::out_of_handles, "no handle is free for another stream");
}

struct LaneFound {
  std::shared_ptr<Instance> instance;
  uint32_t lane = 0;
};
Result<LaneFound> lane_of_stream(Handle handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  const auto recorder = stream->recorder();
  if (const auto bound = std::dynamic_pointer_cast<BoundStream>(recorder)) {
    return LaneFound{bound->instance(), bound->lane()};
  }
  if (const auto shown = std::dynamic_pointer_cast<ShownStream>(recorder)) {
    if (auto instance = shown->instance()) return LaneFound{std::move(instance), shown->lane()};
  }
  return fail(Code::stream_not_of_instance,
              "stream {} belongs to no model instance; take one that aclmdlRIGetStreams gave",
              stream->id());
}

struct TaskFound {
  std::shared_ptr<Instance> instance;
  RecordedTask* task;
};
Result<TaskFound> find_task(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<InstanceTask>(handle));
  if (auto instance = pin->instance.lock()) return TaskFound{std::move(instance), pin->task};
  return fail(Code::invalid_handle, "the model instance of this task was destroyed");
}

// The lock of the tasks is held.
Status read_kernel(Instance& instance, RecordedTask& task, TaskParameters& out) {
  if (!task.kernel) return {};
  KernelNote& note = *task.kernel;
  if (!note.device_arguments && !note.arguments.empty()) {
    ANYNPU_ASSIGN(note.device_arguments, device::allocate_device(*instance.context()->device(),
                                                                 note.arguments.size(), {}));
    ANYNPU_TRY(
        device::copy_bytes(note.device_arguments, note.arguments.data(), note.arguments.size()));
  }
  out.function = note.function;
  out.arguments = note.device_arguments;
  out.argument_bytes = note.arguments.size();
  out.blocks = note.blocks;
  return {};
}

Handle handle_of(const std::shared_ptr<TaskGroup>& group) { return group ? group->handle : 0; }

Status check_captured(const Instance& instance, const char* what) {
  if (instance.origin() != Instance::Origin::built) return {};
  return fail(Code::unsupported_feature, "{} is for tasks of captured instances; {} was built",
              what, instance.id());
}

// A task like `task` that works with other parameters.
Result<std::unique_ptr<device::KeptTask>> remake(const RecordedTask& task, const Lane& lane,
                                                 const TaskParameters& wanted, KernelNote& note) {
  if (wanted.type == TaskType::value_write) {
    return device::write_value_task(wanted.value.address, wanted.value.value);
  }
  if (wanted.type == TaskType::value_wait) {
    if (wanted.value.condition > 3) {
      return fail(Code::invalid_argument, "flag is {}; expected 0 to 3", wanted.value.condition);
    }
    return device::wait_value_task(wanted.value.address, wanted.value.value,
                                   static_cast<device::ValueCondition>(wanted.value.condition));
  }
  if (!task.kernel) {
    return fail(
        Code::op_not_updatable,
        "task {} is a single operator without kernel parameters of its own; replace it with "
        "an update of a task group",
        task.number);
  }
  note = *task.kernel;
  note.device_arguments = nullptr;
  note.function = wanted.function;
  note.blocks = wanted.blocks;
  note.arguments.resize(wanted.argument_bytes);
  if (wanted.argument_bytes > 0) {
    ANYNPU_TRY(
        device::check_range(wanted.arguments, wanted.argument_bytes, device::Access::read, "args")
            .status());
    ANYNPU_TRY(device::copy_bytes(note.arguments.data(), wanted.arguments, wanted.argument_bytes));
  }
  return make_kernel_task(note.function, note.blocks, note.arguments, *lane.source);
}

}  // namespace

TaskType type_of(const RecordedTask& task) {
  switch (task.role) {
    case TaskRole::record:
    case TaskRole::record_outside:
      return TaskType::event_record;
    case TaskRole::wait:
    case TaskRole::wait_outside:
    case TaskRole::wait_flag:
      return TaskType::event_wait;
    case TaskRole::reset:
      return TaskType::event_reset;
    case TaskRole::work:
      break;
    default:
      return TaskType::other;
  }
  if (task.value) {
    return device::is_value_wait(*task.kind) ? TaskType::value_wait : TaskType::value_write;
  }
  return task.kind && is_launch(*task.kind) ? TaskType::kernel : TaskType::other;
}

Result<std::vector<Handle>> streams_of_instance(Handle handle) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  if (instance->origin() != Instance::Origin::built && instance->state() == Instance::State::open) {
    return fail(Code::instance_capturing, "model instance {} is still being captured",
                instance->id());
  }
  std::vector<Handle> handles;
  std::lock_guard lock(instance->tasks_mutex());
  for (uint32_t lane = 0; lane < instance->lanes().size(); ++lane) {
    if (!instance->lanes()[lane].handle) {
      if (instance->origin() == Instance::Origin::built) continue;  // unbound
      ANYNPU_TRY(show_lane(*instance, lane));
    }
    handles.push_back(instance->lanes()[lane].handle);
  }
  return handles;
}

Result<std::vector<Handle>> tasks_of_stream(Handle stream) {
  ANYNPU_ASSIGN(auto found, lane_of_stream(stream));
  std::vector<Handle> handles;
  std::lock_guard lock(found.instance->tasks_mutex());
  for (const auto& task : found.instance->lanes()[found.lane].tasks) {
    if (!task->handle) {
      auto shown = std::make_shared<InstanceTask>();
      shown->instance = found.instance;
      shown->task = task.get();
      task->handle = HandleTable::instance().insert(std::move(shown));
      if (!task->handle) return fail(Code::out_of_handles, "no handle is free for another task");
    }
    handles.push_back(task->handle);
  }
  return handles;
}

Result<TaskParameters> task_parameters(Handle handle) {
  ANYNPU_ASSIGN(auto found, find_task(handle));
  std::lock_guard lock(found.instance->tasks_mutex());
  RecordedTask& task = *found.task;
  TaskParameters out;
  out.type = type_of(task);
  out.number = task.number;
  out.group = handle_of(task.group);
  out.op_info = task.op_info;
  if (task.event) {
    out.event = task.event->handle;
    out.event_flags = task.event->flags();
    out.use = task.role == TaskRole::record_outside || task.role == TaskRole::wait_outside;
  }
  if (task.value) out.value = *task.value;
  ANYNPU_TRY(read_kernel(*found.instance, task, out));
  return out;
}

Status set_task_parameters(Handle handle, const TaskParameters& parameters) {
  ANYNPU_ASSIGN(auto found, find_task(handle));
  ANYNPU_TRY(check_captured(*found.instance, "aclmdlRITaskSetParams"));
  std::lock_guard lock(found.instance->tasks_mutex());
  RecordedTask& task = *found.task;
  const TaskType type = type_of(task);
  if (type != parameters.type) {
    return fail(Code::invalid_argument, "the parameters are of type {}, task {} is of type {}",
                static_cast<int>(parameters.type), task.number, static_cast<int>(type));
  }
  if (type != TaskType::kernel && type != TaskType::value_write && type != TaskType::value_wait) {
    return fail(
        Code::invalid_argument,
        "task {} is of type {}; only kernels (1), writes of values (5) and waits for values "
        "(6) have parameters that can be set",
        task.number, static_cast<int>(type));
  }
  KernelNote note;
  ANYNPU_ASSIGN(task.prepared, remake(task, found.instance->lanes()[task.lane], parameters, note));
  if (type != TaskType::kernel) {
    *task.value = parameters.value;
    return {};
  }
  if (task.kernel->device_arguments) (void)device::free_device(task.kernel->device_arguments);
  *task.kernel = std::move(note);
  return {};
}

Result<std::vector<std::byte>> kernel_attribute(Handle handle, int32_t id) {
  ANYNPU_ASSIGN(auto found, find_task(handle));
  std::lock_guard lock(found.instance->tasks_mutex());
  if (type_of(*found.task) != TaskType::kernel) {
    return fail(Code::invalid_argument, "task {} is no kernel; it has no attributes of a launch",
                found.task->number);
  }
  if (found.task->kernel) {
    for (const auto& attribute : found.task->kernel->attributes) {
      if (attribute.id == id) return attribute.value;
    }
  }
  return std::vector<std::byte>();
}

Status disable_task(Handle handle) {
  ANYNPU_ASSIGN(auto found, find_task(handle));
  ANYNPU_TRY(check_captured(*found.instance, "aclmdlRITaskDisable"));
  std::lock_guard lock(found.instance->tasks_mutex());
  found.task->disabled = true;
  return {};
}

Status update_instance(Handle handle) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  if (instance->state() == Instance::State::open || instance->in_use()) {
    return fail(Code::instance_not_updated, "model instance {} is {}; update it afterwards",
                instance->id(), instance->in_use() ? "queued or running" : "still being captured");
  }
  for (Lane& lane : instance->lanes()) {
    for (const auto& task : lane.tasks) {
      if (task->prepared) instance->replace_work(*task, std::move(task->prepared));
    }
  }
  std::lock_guard lock(instance->tasks_mutex());
  instance->make_programs();
  return {};
}

}  // namespace anynpu::service
