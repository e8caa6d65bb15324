// SPDX-License-Identifier: Apache-2.0
#include "service/instance/last_task.h"

namespace anynpu::service {

namespace {

struct LastTask {
  std::weak_ptr<Instance> instance;
  RecordedTask* task = nullptr;
  bool caches = false;
};
LastTask& last() {
  thread_local LastTask task;
  return task;
}

struct Found {
  std::shared_ptr<Instance> instance;  // keeps the task
  RecordedTask* task;
};
Result<Found> find_last() {
  if (auto instance = last().instance.lock()) return Found{std::move(instance), last().task};
  return fail(
      Code::bad_call_order,
      "the last task of this thread was not recorded into a model instance; submit one to a "
      "stream that is being captured or bound first");
}

}  // namespace

void note_last_task(const std::shared_ptr<Instance>& instance, RecordedTask& task) {
  // Joined streams follow the one that the capture began on.
  const bool caches = instance->origin() != Instance::Origin::built &&
                      instance->lanes()[0].source->cache_op_info != 0;
  last() = {instance, &task, caches};
}

void forget_last_task() { last() = {}; }

void describe_last_kernel(KernelNote note) {
  const auto instance = last().instance.lock();
  if (!instance) return;
  std::lock_guard lock(instance->tasks_mutex());
  last().task->kernel = std::make_unique<KernelNote>(std::move(note));
}

void describe_last_value(const ValueNote& note) {
  const auto instance = last().instance.lock();
  if (!instance) return;
  std::lock_guard lock(instance->tasks_mutex());
  last().task->value = std::make_unique<ValueNote>(note);
}

void describe_last_random(std::shared_ptr<RandomTask> random) {
  if (const auto instance = last().instance.lock()) last().task->random = std::move(random);
}

Status cache_op_info(std::span<const std::byte> info) {
  if (info.empty() || info.size() > kMostOpInfo) {
    return fail(Code::invalid_argument, "infoSize is {}; expected 1 to {}", info.size(),
                kMostOpInfo);
  }
  ANYNPU_ASSIGN(const Found found, find_last());
  if (!last().caches) {
    return fail(Code::bad_call_order,
                "the stream of the last task does not cache information; set its attribute "
                "ACL_STREAM_ATTR_CACHE_OP_INFO (4) to 1 while it is being captured");
  }
  std::lock_guard lock(found.instance->tasks_mutex());
  found.task->op_info.assign(info.begin(), info.end());
  return {};
}

Status cache_extend_info(std::string_view info) {
  if (info.empty()) {
    return fail(Code::invalid_argument, "infoSize is 0; expected 1 to {}", kMostExtendInfo);
  }
  ANYNPU_ASSIGN(const Found found, find_last());
  std::lock_guard lock(found.instance->tasks_mutex());
  found.task->extend_info = info.substr(0, kMostExtendInfo);
  return {};
}

}  // namespace anynpu::service
