// SPDX-License-Identifier: Apache-2.0
// Queues of the back end `remote`, and the thread that does their work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "device/host_view.h"
#include "device/queue.h"
#include "remote_memory.h"

namespace anynpu::device {

// The thread of one device. Takes jobs in order; ends with the last holder.
class RemoteWorker {
 public:
  RemoteWorker() : thread_([this] { work(); }) {}
  ~RemoteWorker() {
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void add(std::function<void()> job) {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ended_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ended_ = false;
  std::thread thread_;
};

struct RemoteMark final : QueueMark {
  explicit RemoteMark(const RemoteWorker& by) : worker(&by) {}
  bool passed() const override { return time != 0; }
  uint64_t time_ns() const override { return time; }
  const RemoteWorker* const worker;
  std::atomic<uint64_t> time{0};
};

struct RemoteRecording {
  std::vector<std::function<Status()>> work;
  std::vector<std::shared_ptr<void>> resources;
};

// Work of one stream. The device is done with it some time after the call.
class RemoteQueue final : public Queue, public std::enable_shared_from_this<RemoteQueue> {
 public:
  RemoteQueue(RemoteWorker& worker, std::shared_ptr<RemoteMemory> memory)
      : worker_(worker), memory_(std::move(memory)) {}

  Status copy(const CopyRows& rows) override {
    return add([rows] { return copy_rows(rows); });
  }
  Status fill(void* address, int value, size_t bytes) override {
    return add([address, value, bytes] { return fill_bytes(address, value, bytes); });
  }
  bool idle() const override {
    if (recorded) return false;
    std::lock_guard lock(mutex_);
    return left_ == 0 && failure_.ok();
  }
  void when_idle(std::function<void(Status)> done) override {
    worker_.add([self = shared_from_this(), done = std::move(done)] {
      Status failure;
      {
        std::lock_guard lock(self->mutex_);
        std::swap(failure, self->failure_);
      }
      done(std::move(failure));
    });
  }

  void keep(std::shared_ptr<void> resource) override {
    if (recorded) {
      recorded->resources.push_back(std::move(resource));
      return;
    }
    worker_.add([resource = std::move(resource)] {});
  }

  // One worker does the work of all queues in the order of submission, so a wait needs no work.
  bool has_marks() const override { return true; }
  std::shared_ptr<QueueMark> mark() override {
    auto mark = std::make_shared<RemoteMark>(worker_);
    (void)add([mark] {
      mark->time = now_ns();
      return Status();
    });
    return mark;
  }
  bool can_wait(const QueueMark& mark) const override {
    const auto* const own = dynamic_cast<const RemoteMark*>(&mark);
    return own && own->worker == &worker_;
  }
  Status wait(const std::shared_ptr<QueueMark>&) override { return {}; }

  // The order of the list is one of those that parts allow.
  std::shared_ptr<void> record(const std::vector<Part>& parts) override {
    auto recording = std::make_shared<RemoteRecording>();
    recorded = recording.get();
    bool done = true;
    for (const Part& part : parts) done = done && part.work().ok();
    recorded = nullptr;
    return done ? recording : nullptr;
  }
  Status replay(const std::shared_ptr<void>& recording) override {
    const auto work = std::static_pointer_cast<RemoteRecording>(recording);
    return add([work] {
      for (const auto& each : work->work) {
        if (Status status = each(); !status.ok()) return status;
      }
      return Status();
    });
  }
  bool recording() const override { return recorded != nullptr; }
  Status drain() override {
    if (recorded) return fail(Code::internal, "work that is being recorded cannot be waited for");
    return Queue::drain();
  }

  // For kernels: `work` is a Status().
  template <typename Work>
  Status add(Work work) {
    if (recorded) {
      recorded->work.push_back(work);
      return {};
    }
    {
      std::lock_guard lock(mutex_);
      ++left_;
    }
    worker_.add([self = shared_from_this(), work] {
      Status status = work();
      std::lock_guard lock(self->mutex_);
      --self->left_;
      if (self->failure_.ok()) self->failure_ = std::move(status);
    });
    return {};
  }

  // Where kernels find what programs see at `address`.
  const RemoteMemory& memory() const { return *memory_; }

 private:
  RemoteWorker& worker_;
  // What this thread records.
  inline static thread_local RemoteRecording* recorded = nullptr;

  const std::shared_ptr<RemoteMemory> memory_;
  mutable std::mutex mutex_;
  int left_ = 0;
  Status failure_;
};

}  // namespace anynpu::device
