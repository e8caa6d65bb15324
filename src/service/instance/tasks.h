// SPDX-License-Identifier: Apache-2.0
// Queries and changes of the streams and tasks of a model instance. Changes take effect with
// update_instance. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "service/instance/instance.h"

namespace anynpu::service {

// A task as programs hold it.
struct InstanceTask {
  std::weak_ptr<Instance> instance;
  RecordedTask* task = nullptr;  // lives as long as the instance
};

// Streams of an instance: the bound ones, or one for each captured stream, valid only for
// tasks_of_stream.
Result<std::vector<Handle>> streams_of_instance(Handle instance);
Result<std::vector<Handle>> tasks_of_stream(Handle stream);

enum class TaskType : uint8_t {
  other = 0,
  kernel = 1,
  event_record = 2,
  event_wait = 3,
  event_reset = 4,
  value_write = 5,
  value_wait = 6,
};
TaskType type_of(const RecordedTask& task);

// What programs read of a task, and set for kernels and values.
struct TaskParameters {
  TaskType type = TaskType::other;
  uint32_t number = 0;
  Handle group = 0;
  std::span<const std::byte> op_info;
  // kernels
  Handle function = 0;
  const void* arguments = nullptr;  // device memory; where they are set also of the host
  bool host_arguments = false;
  size_t argument_bytes = 0;
  uint32_t blocks = 0;
  // events
  Handle event = 0;
  uint32_t event_flags = 0;
  uint32_t use = 0;  // 1: outside
  // values
  ValueNote value;
};
Result<TaskParameters> task_parameters(Handle task);
Status set_task_parameters(Handle task, const TaskParameters& parameters);
// The value of an attribute that the kernel was launched with; zeros when it had none.
Result<std::vector<std::byte>> kernel_attribute(Handle task, int32_t id);
Status disable_task(Handle task);

// Applies what was set and disabled.
Status update_instance(Handle instance);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::InstanceTask, instance_task);
}
