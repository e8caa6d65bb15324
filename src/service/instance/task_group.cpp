// SPDX-License-Identifier: Apache-2.0
#include "service/instance/task_group.h"

#include <algorithm>

#include "device/runtime.h"
#include "service/instance/capture.h"
#include "service/task_kinds.h"

namespace anynpu::service {

using device::Stream;

namespace {

constexpr size_t kMostUpdates = 1024 * 1024;  // tasks that wait to be put into place
std::atomic<size_t> updates_under_way{0};

constinit device::TaskKind kUpdate{"update of a task group", device::Engine::control};

// Collects the launches of an update.
class GroupUpdate final : public device::TaskRecorder {
 public:
  explicit GroupUpdate(std::shared_ptr<TaskGroup> group) : group_(std::move(group)) {}
  ~GroupUpdate() override { group_->updating = false; }

  Result<uint32_t> keep(Stream& stream, std::unique_ptr<device::KeptTask> task) override {
    std::lock_guard lock(mutex_);
    const size_t at = tasks_.size();
    if (!is_launch(task->kind())) {
      return fail(Code::task_kind_refused,
                  "an update of a task group takes launches of operators and kernels alone, not {}",
                  task->kind().text);
    }
    if (at == group_->tasks.size()) {
      return fail(Code::invalid_argument,
                  "the task group has {} tasks; an update has as many, not more", at);
    }
    const device::TaskKind& wanted = *group_->tasks[at]->kind;
    if (&task->kind() != &wanted) {
      return fail(Code::op_not_updatable,
                  "task {} of the group is of kind '{}'; '{}' cannot replace it", at + 1,
                  wanted.text, task->kind().text);
    }
    tasks_.push_back(std::move(task));
    return static_cast<uint32_t>(stream.submitted() + at + 1);
  }
  Status record(Stream&, device::Event&, device::EventUse) override { return refuse("a record"); }
  Status wait(Stream&, device::Event&, device::EventUse) override { return refuse("a wait"); }
  Status reset(Stream&, device::Event&) override { return refuse("a reset"); }
  Status join(Stream&, device::Event&) override { return refuse("a wait"); }
  bool open() const override { return false; }
  Status asked(std::string_view what) override {
    return fail(Code::task_group_state,
                "{} collects the update of a task group; call aclmdlRICaptureTaskUpdateEnd first",
                what);
  }

  // Replaces the launches when the stream reaches the task.
  Status submit_to(Stream& stream) {
    std::lock_guard lock(mutex_);
    if (tasks_.empty()) return {};
    if (tasks_.size() != group_->tasks.size()) {
      return fail(Code::invalid_argument,
                  "the update has {} tasks, the task group {}; launch as many", tasks_.size(),
                  group_->tasks.size());
    }
    const size_t count = tasks_.size();
    if (updates_under_way.fetch_add(count) + count > kMostUpdates) {
      updates_under_way.fetch_sub(count);
      return fail(Code::limit_exceeded, "more than {} tasks are being updated", kMostUpdates);
    }
    const auto counted =
        std::shared_ptr<void>(nullptr, [count](void*) { updates_under_way.fetch_sub(count); });
    auto tasks = std::make_shared<std::vector<std::unique_ptr<device::KeptTask>>>();
    tasks->swap(tasks_);
    return stream.submit(kUpdate, [group = group_, tasks, counted] {
      const auto instance = group->instance.lock();
      if (!instance) return fail(Code::invalid_handle, "the instance of a task group is gone");
      for (size_t i = 0; i < tasks->size(); ++i) {
        instance->replace_work(*group->tasks[i], std::move((*tasks)[i]));
      }
      return Status();
    });
  }

 private:
  static Status refuse(const char* what) {
    return fail(Code::task_kind_refused,
                "an update of a task group takes launches of operators and kernels alone, not {}",
                what);
  }
  const std::shared_ptr<TaskGroup> group_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<device::KeptTask>> tasks_;
};

}  // namespace

bool is_launch(const device::TaskKind& kind) {
  return &kind == &operator_task || &kind == &queued_operator_task ||
         &kind == &custom_kernel_task || &kind == &kernel_task || &kind == &matrix_product_task;
}

void TaskGroup::add(RecordedTask& task) {
  tasks.push_back(&task);
  task.group = shared_from_this();
}

Status begin_task_group(Handle handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_ASSIGN(auto capture, capture_of(*stream));
  return capture->begin_group(*stream);
}

Result<Handle> end_task_group(Handle handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_ASSIGN(auto capture, capture_of(*stream));
  ANYNPU_ASSIGN(auto group, capture->end_group(*stream));
  const Handle made = HandleTable::instance().insert(group);
  if (!made) return fail(Code::out_of_handles, "no handle is free for another task group");
  group->handle = made;
  capture->instance()->keep_group(group, made);
  return made;
}

Status begin_group_update(Handle handle, Handle group_handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_ASSIGN(auto pin, resolve<TaskGroup>(group_handle));
  if (std::dynamic_pointer_cast<GroupUpdate>(stream->recorder())) {
    return fail(Code::task_group_state,
                "stream {} updates a task group already; end that update first", stream->id());
  }
  if (stream->recorder()) {
    return fail(Code::stream_capturing,
                "stream {} is being captured or bound; update task groups on another stream",
                stream->id());
  }
  auto group = pin.share();
  if (group->updating.exchange(true)) {
    return fail(Code::task_group_state, "the task group is being updated already; end that first");
  }
  stream->set_recorder(std::make_shared<GroupUpdate>(std::move(group)));
  return {};
}

Status end_group_update(Handle handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  const auto update = std::dynamic_pointer_cast<GroupUpdate>(stream->recorder());
  if (!update) {
    return fail(Code::task_group_state,
                "stream {} updates no task group; call aclmdlRICaptureTaskUpdateBegin first",
                stream->id());
  }
  stream->set_recorder(nullptr);
  return update->submit_to(*stream);
}

}  // namespace anynpu::service
