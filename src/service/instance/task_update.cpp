// SPDX-License-Identifier: Apache-2.0
#include "service/instance/task_update.h"

#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/instance/build.h"
#include "service/instance/tasks.h"
#include "service/kernel/kernel_launch.h"

namespace anynpu::service {

namespace {

constinit device::TaskKind kUpdateTask{"update of a task", device::Engine::control};

struct Update {
  std::shared_ptr<Instance> instance;
  RecordedTask* task;
  TaskUpdate what;
  device::Range source, entry, blocks;  // checked

  Status run() const {
    return what.kind == TaskUpdate::Kind::random ? change_random() : change_kernel();
  }

  Status change_random() const {
    std::vector<std::byte> bytes(what.bytes);
    ANYNPU_TRY(device::copy_bytes(bytes.data(), source.address, bytes.size()));
    change_random_task(*task->random, what.read(bytes));
    return {};
  }

  Status change_kernel() const {
    uint64_t address = 0;
    uint32_t count = 0;
    ANYNPU_TRY(device::copy_bytes(&address, entry.address, sizeof address));
    ANYNPU_TRY(device::copy_bytes(&count, blocks.address, sizeof count));
    ANYNPU_ASSIGN(const Handle function, function_at(what.binary, address));
    std::vector<std::byte> arguments;
    {
      std::lock_guard lock(instance->tasks_mutex());
      arguments = task->kernel->arguments;
    }
    ANYNPU_ASSIGN(auto work, make_kernel_task(function, count, arguments,
                                              *instance->lanes()[task->lane].source));
    instance->replace_work(*task, std::move(work));
    std::lock_guard lock(instance->tasks_mutex());
    task->kernel->function = function;
    task->kernel->blocks = count;
    return {};
  }
};

Result<RecordedTask*> find_task(Instance& instance, uint32_t lane, uint32_t number) {
  const auto& tasks = instance.lanes()[lane].tasks;
  if (number >= 1 && number <= tasks.size()) return tasks[number - 1].get();
  return fail(Code::invalid_argument,
              "taskId is {}; the stream has tasks 1 to {}, as aclrtGetThreadLastTaskId gave them",
              number, tasks.size());
}

}  // namespace

Status update_task_async(Handle task_stream, uint32_t number, const TaskUpdate& what,
                         Handle exec_stream) {
  if (!task_stream) return fail(Code::invalid_handle, "taskStream is null");
  ANYNPU_ASSIGN(auto from, device::Runtime::instance().stream(task_stream));
  ANYNPU_ASSIGN(auto bound, bound_stream(*from));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(exec_stream));
  Update update{bound->instance(), nullptr, what, {}, {}, {}};
  ANYNPU_ASSIGN(update.task, find_task(*bound->instance(), bound->lane(), number));
  constexpr auto read = device::Access::read;
  if (what.kind == TaskUpdate::Kind::random) {
    if (!update.task->random) {
      return fail(Code::invalid_argument, "task {} does not make random numbers", number);
    }
    ANYNPU_ASSIGN(update.source, device::check_range(what.source, what.bytes, read, "srcAddr"));
  } else {
    if (!update.task->kernel) {
      return fail(Code::invalid_argument, "task {} is no launch of a kernel", number);
    }
    ANYNPU_ASSIGN(update.entry, device::check_range(what.entry, 8, read, "funcEntryAddr"));
    ANYNPU_ASSIGN(update.blocks, device::check_range(what.blocks, 4, read, "blockDimAddr"));
  }
  auto shared = std::make_shared<Update>(std::move(update));
  return stream->submit(kUpdateTask, [shared = std::move(shared)] { return shared->run(); });
}

}  // namespace anynpu::service
