// SPDX-License-Identifier: Apache-2.0
#include "device/report.h"

#include <pthread.h>

#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "trace/trace.h"

namespace anynpu::device {

namespace {
constinit TaskKind kCallback{"callback", Engine::control};
thread_local bool running_callback = false;
}  // namespace

ReportQueues& ReportQueues::instance() {
  static auto* queues = new ReportQueues;
  return *queues;
}

ReportQueues& ReportQueues::host_functions() {
  static auto* queues = new ReportQueues;
  return *queues;
}

bool ReportQueues::serves(const Stream& stream) {
  std::lock_guard lock(mutex_);
  return threads_.count(&stream) > 0;
}

ReportQueues::Queue& ReportQueues::queue_of(uint64_t thread) {
  auto& queue = queues_[thread];
  if (!queue) queue = std::make_shared<Queue>();
  return *queue;
}

void ReportQueues::drop_if_unused(uint64_t thread) {
  auto entry = queues_.find(thread);
  if (entry == queues_.end()) return;
  const Queue& queue = *entry->second;
  if (queue.streams == 0 && queue.processing == 0 && queue.reports.empty()) queues_.erase(entry);
}

std::shared_ptr<ReportQueues::Queue> ReportQueues::subscribed(const Stream& stream) {
  auto thread = threads_.find(&stream);
  return thread == threads_.end() ? nullptr : queues_[thread->second];
}

Status ReportQueues::subscribe(uint64_t thread, const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  if (auto known = threads_.find(stream.get()); known != threads_.end()) {
    return fail(Code::already_subscribed,
                "stream {} is subscribed to thread {:#x} already; unsubscribe it first",
                stream->id(), known->second);
  }
  if (!queues_.count(thread) && queues_.size() >= kMostThreads) {
    return fail(Code::limit_exceeded, "{} threads take callbacks already, the most there may be",
                queues_.size());
  }
  Queue& queue = queue_of(thread);
  if (queue.streams > 0 && queue.device != stream->device()) {
    return fail(Code::already_subscribed,
                "thread {:#x} takes callbacks of streams of another device than stream {}; use one "
                "thread a device",
                thread, stream->id());
  }
  queue.device = stream->device();
  ++queue.streams;
  threads_[stream.get()] = thread;
  queue.arrived.notify_all();
  return {};
}

Status ReportQueues::unsubscribe(uint64_t thread, const Stream& stream) {
  std::lock_guard lock(mutex_);
  auto known = threads_.find(&stream);
  if (known == threads_.end()) {
    return fail(Code::stream_not_subscribed, "stream {} is not subscribed to any thread",
                stream.id());
  }
  if (known->second != thread) {
    return fail(Code::thread_not_subscribed,
                "stream {} is subscribed to thread {:#x}, not to thread {:#x}", stream.id(),
                known->second, thread);
  }
  --queues_[thread]->streams;
  threads_.erase(known);
  drop_if_unused(thread);
  return {};
}

void ReportQueues::forget(const Stream& stream) {
  std::vector<Report> dropped;  // destroyed without the lock: completions finish tasks
  std::lock_guard lock(mutex_);
  auto known = threads_.find(&stream);
  if (known == threads_.end()) return;
  Queue& queue = *queues_[known->second];
  --queue.streams;
  std::erase_if(queue.reports, [&](Report& report) {
    if (report.stream != &stream) return false;
    dropped.push_back(std::move(report));
    return true;
  });
  const uint64_t thread = known->second;
  threads_.erase(known);
  drop_if_unused(thread);
}

Status ReportQueues::launch(std::function<void()> callback, Block block, Stream& stream) {
  {
    std::lock_guard lock(mutex_);
    if (!threads_.count(&stream)) {
      return fail(
          Code::stream_not_subscribed,
          "stream {} has no thread for its callbacks; call subscribe_report before launch_callback",
          stream.id());
    }
  }
  auto shared = std::make_shared<std::function<void()>>(std::move(callback));
  return stream.submit(kCallback, [this, shared = std::move(shared), block](TaskRun& run) {
    std::lock_guard lock(mutex_);
    const auto queue = subscribed(run.stream());
    if (!queue) {
      return run.done(fail(Code::stream_not_subscribed,
                           "a callback of stream {} was due after its thread was unsubscribed",
                           run.stream().id()));
    }
    std::shared_ptr<Completion> completion;
    if (block == Block::yes) completion = std::make_shared<Completion>(run.defer());
    queue->reports.push_back({shared, completion, &run.stream()});
    queue->arrived.notify_one();
    return completion ? Outcome::pending : run.done({});
  });
}

Status ReportQueues::process(const Deadline& deadline) {
  const auto thread = static_cast<uint64_t>(pthread_self());
  std::deque<Report> due;
  {
    std::unique_lock lock(mutex_);
    Queue& queue = queue_of(thread);
    ++queue.processing;
    WaitEnd end = WaitEnd::woken;
    while (queue.reports.empty() && end == WaitEnd::woken) {
      end = wait_turn(queue.arrived, lock, deadline);
    }
    --queue.processing;
    due.swap(queue.reports);
    if (due.empty()) {
      const bool served = queue.streams > 0;
      drop_if_unused(thread);
      if (end == WaitEnd::interrupted) {
        return fail(Code::cancelled, "the wait for callbacks was interrupted");
      }
      return served
                 ? fail(Code::callback_timeout, "no callback was due in the time given; call again")
                 : fail(Code::thread_not_subscribed,
                        "no stream is subscribed to this thread ({:#x}); pass its id to "
                        "subscribe_report",
                        thread);
    }
  }
  for (Report& report : due) {
    ANYNPU_TRACE_ZONE(callback, "callback");
    const bool outer = std::exchange(running_callback, true);
    (*report.callback)();
    running_callback = outer;
    if (report.completion) report.completion->finish({});
  }
  return {};
}

bool ReportQueues::in_callback() { return running_callback; }

}  // namespace anynpu::device
