// SPDX-License-Identifier: Apache-2.0
#include "service/instance/instance.h"

#include <algorithm>

#include "device/memory.h"
#include "service/finalize.h"
#include "service/instance/label.h"
#include "service/instance/record_tasks.h"
#include "service/instance/task_group.h"
#include "service/instance/tasks.h"

namespace anynpu::service {

namespace {

// What a kernel prepares in its first run may not be allowed while a device records.
constexpr int kRecordTries = 2;

std::atomic<uint32_t> next_instance_id{0};

void release_all() {
  for (const auto& instance : HandleTable::instance().all<Instance>()) {
    if (instance->origin() != Instance::Origin::nested) instance->release();
  }
}

}  // namespace

Instance::Instance(Origin origin, std::shared_ptr<device::Context> context)
    : origin_(origin),
      context_(std::move(context)),
      id_(next_instance_id.fetch_add(1, std::memory_order_relaxed)) {}

Instance::~Instance() {
  for (Lane& lane : lanes_) {
    for (const auto& task : lane.tasks) {
      if (task->kernel && task->kernel->device_arguments) {
        (void)device::free_device(task->kernel->device_arguments);
      }
    }
  }
}

Result<std::shared_ptr<Instance>> Instance::create(
    Origin origin, const std::shared_ptr<device::Context>& context) {
  on_finalize(release_all);
  auto instance = std::shared_ptr<Instance>(new Instance(origin, context));
  instance->handle_ = HandleTable::instance().insert(instance);
  if (instance->handle_) return instance;
  return fail(Code::out_of_handles, "no handle is free for another model instance; destroy some");
}

uint32_t Instance::add_lane(std::shared_ptr<device::Stream> source) {
  Lane lane;
  lane.source = std::move(source);
  lanes_.push_back(std::move(lane));
  return static_cast<uint32_t>(lanes_.size() - 1);
}

RecordedTask& Instance::add_task(uint32_t lane, TaskRole role) {
  auto& tasks = lanes_[lane].tasks;
  tasks.push_back(std::make_unique<RecordedTask>());
  RecordedTask& task = *tasks.back();
  task.role = role;
  task.lane = lane;
  task.number = static_cast<uint32_t>(tasks.size());
  return task;
}

void Instance::add_condition(std::shared_ptr<Condition> condition) {
  conditions_.push_back(std::move(condition));
}

void Instance::keep_group(std::shared_ptr<TaskGroup> group, Handle handle) {
  std::lock_guard lock(mutex_);
  groups_.emplace_back(std::move(group), handle);
}

bool Instance::has_tasks() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return !lane.tasks.empty(); });
}

void Instance::make_programs() {
  unbounded_ = has_end_ = false;
  for (Lane& lane : lanes_) {
    lane.program.clear();
    for (const auto& task : lane.tasks) {
      if (task->disabled) continue;
      if (task->role == TaskRole::label) {
        task->label->lane = task->lane;
        task->label->at = static_cast<uint32_t>(lane.program.size());
      }
      has_end_ |= task->role == TaskRole::end;
      unbounded_ |= task->role == TaskRole::condition || task->role == TaskRole::switch_label ||
                    (task->kind && task->kind->unbounded);
      lane.program.push_back(task.get());
    }
    const bool waits = !lane.program.empty() && lane.program[0]->role == TaskRole::wait;
    lane.starts_at = waits ? lane.program[0]->join : Lane::kAtOnce;
  }
  run_.joined.assign(joins_, 0);
  forget_recording();
}

void Instance::forget_recording() {
  std::lock_guard lock(mutex_);
  recording_ = nullptr;
  record_tries_ = 0;
}

std::shared_ptr<void> Instance::recording() {
  std::lock_guard lock(mutex_);
  if (recording_ || record_tries_ >= kRecordTries || origin_ != Origin::captured) return recording_;
  ++record_tries_;
  return recording_ = record_tasks(*this);
}

void Instance::finish() {
  make_programs();
  state_.store(State::ready, std::memory_order_release);
}

void Instance::replace_work(RecordedTask& task, std::unique_ptr<device::KeptTask> work) {
  forget_recording();
  std::lock_guard lock(tasks_mutex_);
  task.set_work(std::move(work));
  replaced_.push_back(&task);
  has_replaced_.store(true, std::memory_order_release);
}

void Instance::drop_replaced() {
  if (!has_replaced_.load(std::memory_order_acquire)) [[likely]]
    return;
  std::vector<std::unique_ptr<device::KeptTask>> gone;  // destroyed without the lock
  std::lock_guard lock(tasks_mutex_);
  for (RecordedTask* task : replaced_) {
    while (task->kept.size() > 1) {
      gone.push_back(std::move(task->kept.front()));
      task->kept.erase(task->kept.begin());
    }
  }
  replaced_.clear();
  has_replaced_.store(false, std::memory_order_release);
}

void Instance::set_name(std::string_view name) {
  std::lock_guard lock(mutex_);
  name_ = name.substr(0, kNameBytes);
}

std::string Instance::name() const {
  std::lock_guard lock(mutex_);
  return name_;
}

void Instance::add_destroy_callback(Callback callback, void* data) {
  std::lock_guard lock(mutex_);
  callbacks_.emplace_back(callback, data);
}

Status Instance::remove_destroy_callback(Callback callback) {
  std::lock_guard lock(mutex_);
  const size_t gone =
      std::erase_if(callbacks_, [&](const auto& entry) { return entry.first == callback; });
  if (gone) return {};
  return fail(Code::not_found, "this callback was not registered for model instance {}", id_);
}

std::shared_ptr<device::Stream> Instance::make_stream() const {
  return std::make_shared<device::Stream>(context_->device(), context_, device::StreamOptions{});
}

const std::shared_ptr<device::Stream>& Instance::worker(uint32_t lane) {
  std::lock_guard lock(mutex_);
  auto& worker = lanes_[lane].worker;
  if (!worker) worker = make_stream();
  return worker;
}

const std::shared_ptr<device::Stream>& Instance::own_stream() {
  std::lock_guard lock(mutex_);
  if (!own_stream_) own_stream_ = make_stream();
  return own_stream_;
}

Status Instance::destroy(Handle handle) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  if (instance->origin() == Origin::nested) {
    return fail(Code::invalid_argument,
                "model instance {} belongs to a condition; it ends with the instance that has the "
                "condition",
                instance->id());
  }
  if (instance->origin() == Origin::captured && instance->state() == State::open) {
    return fail(Code::instance_capturing,
                "model instance {} is still being captured; end the capture first", instance->id());
  }
  if (instance->in_use()) {
    return fail(Code::instance_running,
                "model instance {} is queued or running; synchronize its stream first",
                instance->id());
  }
  instance->release();
  return {};
}

void Instance::release() {
  auto& handles = HandleTable::instance();
  if (!handles.remove<Instance>(handle_)) return;
  std::vector<std::pair<Callback, void*>> callbacks;
  std::vector<std::pair<std::shared_ptr<TaskGroup>, Handle>> groups;
  {
    std::lock_guard lock(mutex_);
    callbacks.swap(callbacks_);
    groups.swap(groups_);
  }
  for (const auto& [callback, data] : callbacks) callback(data);
  for (const auto& group : groups) handles.remove<TaskGroup>(group.second);
  for (const auto& condition : conditions_) {
    for (const auto& body : condition->bodies) body->release();
    handles.remove<Condition>(condition->handle);
    (void)device::free_device(condition->value);
  }
  for (Lane& lane : lanes_) {
    if (lane.bound) lane.source->set_recorder(nullptr);
    if (!lane.bound && lane.handle) handles.remove<device::Stream>(lane.handle);
    for (const auto& task : lane.tasks) {
      if (task->handle) handles.remove<InstanceTask>(task->handle);
    }
  }
}

Result<std::shared_ptr<Instance>> find_instance(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<Instance>(handle));
  return pin.share();
}

}  // namespace anynpu::service
