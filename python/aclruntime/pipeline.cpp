// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/pipeline.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "aclruntime/copy_times.h"

namespace anynpu::aclruntime {

namespace {

// Whether the copies of an item take longer than it takes to wake a thread.
bool worth_a_thread(const PipelineItem& item) {
  constexpr size_t kBytes = 64 << 10;
  size_t bytes = 0;
  for (const Feed& feed : item.feeds) bytes += feed.bytes;
  for (const Tensor& tensor : item.outputs) bytes += tensor.bytes;
  return bytes >= kBytes;
}

// Moves the calling thread off a core; it may come back. The system may start or wake a thread on
// the core of the one that it is meant to run beside, and leave it there.
void leave_core(int core) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) {
    sched_setaffinity(0, sizeof allowed, &allowed);
  }
}

}  // namespace

// Computation first, because only one thread does it; then what makes room for further items.
Pipeline::Task Pipeline::find(Role role) {
  if (role == Role::computes && to_compute_ < to_put_ && state_of(to_compute_) == State::ready) {
    return {Work::compute, to_compute_++};
  }
  if (to_fetch_ < to_compute_ && state_of(to_fetch_) == State::computed) {
    return {Work::fetch, to_fetch_++};
  }
  if (to_put_ < count_ && state_of(to_put_) == State::free) return {Work::put, to_put_++};
  return {Work::none, 0};
}

Pipeline::Task Pipeline::take(Role role) {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const Task task = find(role);
    if (task.step != Work::none) {
      state_of(task.item) = State::busy;
      return task;
    }
    if (to_fetch_ == count_) break;
    changed_.wait(lock);
  }
  return {Work::none, 0};
}

void Pipeline::end(Task task, Failure failure) {
  if (failure) return stop(task.item, std::move(failure));
  {
    const std::lock_guard lock(mutex_);
    state_of(task.item) = task.step == Work::put       ? State::ready
                          : task.step == Work::compute ? State::computed
                                                       : State::free;
  }
  changed_.notify_one();
}

// Of two failures the one of the earlier item counts. No failure: the caller was interrupted.
void Pipeline::stop(size_t item, Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (failure && (!failure_ || item < failed_)) {
      failed_ = item;
      failure_ = std::move(failure);
      failure_.message = "feeds " + std::to_string(item) + ": " + failure_.message;
    }
  }
  changed_.notify_one();
}

Failure Pipeline::compute(PipelineItem& item, Binding& binding) {
  if (Failure failure = binding.set_shapes(item.shapes)) return failure;
  if (Failure failure = binding.set_aipp(aipp_)) return failure;
  if (Failure failure = binding.execute(output_sizes_, loop_, item.times)) return failure;
  return binding.outputs(item.outputs);
}

Failure Pipeline::fetch(PipelineItem& item) {
  for (Tensor& tensor : item.outputs) {
    if (Failure failure = move_to_host(tensor)) return failure;
  }
  return {};
}

Failure Pipeline::perform(Task task) {
  PipelineItem& item = items_[task.item];
  Binding& binding = *bindings_[task.item % kBindings];
  switch (task.step) {
    case Work::put:
      return binding.put(item.feeds);
    case Work::compute:
      return compute(item, binding);
    case Work::fetch:
      return fetch(item);
    case Work::none:
      break;
  }
  return {};
}

void Pipeline::work(Role role, const std::function<bool()>& interrupted) {
  constexpr double kAskEachMs = 50;
  if (Failure failure = model_.context().use()) return stop(0, std::move(failure));
  double asked = now_ms();
  for (Task task = take(role); task.step != Work::none; task = take(role)) {
    const int core = sched_getcpu();
    if (role == Role::computes) {
      computing_core_ = core;
    } else if (core >= 0 && core == computing_core_) {
      leave_core(core);
    }
    end(task, perform(task));
    if (!interrupted || now_ms() - asked < kAskEachMs) continue;
    asked = now_ms();
    if (interrupted()) return stop(task.item, {});
  }
}

Failure Pipeline::run(const std::function<bool()>& interrupted) {
  // The first item shows whether its copies are worth a second thread.
  count_ = std::min<size_t>(items_.size(), 1);
  work(Role::computes, interrupted);
  std::thread other;
  if (!stopped_ && items_.size() > 1) {
    count_ = items_.size();
    if (worth_a_thread(items_[0])) other = std::thread([this] { work(Role::copies, {}); });
    work(Role::computes, interrupted);
  }
  if (other.joinable()) other.join();
  return std::move(failure_);
}

}  // namespace anynpu::aclruntime
