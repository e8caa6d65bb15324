// SPDX-License-Identifier: Apache-2.0
// Task groups: launches of a capture that a program can replace later. An update collects launches
// on a stream that is not being captured, in the same number and of the same kinds as the group; a
// task of that stream then puts them into the instance. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/recorder.h"
#include "service/instance/instance.h"

namespace anynpu::service {

// Whether a task is the launch of an operator or kernel.
bool is_launch(const device::TaskKind& kind);

struct TaskGroup : std::enable_shared_from_this<TaskGroup> {
  explicit TaskGroup(const std::shared_ptr<Instance>& instance) : instance(instance) {}
  void add(RecordedTask& task);

  const std::weak_ptr<Instance> instance;
  std::vector<RecordedTask*> tasks;  // complete once it has a handle
  std::atomic<bool> updating{false};
  Handle handle = 0;
};

Status begin_task_group(Handle stream);
Result<Handle> end_task_group(Handle stream);

Status begin_group_update(Handle stream, Handle group);
Status end_group_update(Handle stream);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::TaskGroup, task_group);
}
