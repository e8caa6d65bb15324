// SPDX-License-Identifier: Apache-2.0
// The back end `remote`: a device as far from the host as a GPU. Its memory cannot be read, its
// queues return before the work is done, nothing of it can be mapped or shared. A plug-in of the
// build tree only, opened by ANYNPU_DEVICES=remote:N.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "device/backend.h"
#include "device/device.h"
#include "device/queue.h"
#include "remote_memory.h"

namespace anynpu::device {

namespace {

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

class RemoteQueue final : public Queue, public std::enable_shared_from_this<RemoteQueue> {
 public:
  explicit RemoteQueue(RemoteWorker& worker) : worker_(worker) {}

  Status copy(const CopyRows& rows) override {
    return add([rows] { return copy_rows(rows); });
  }
  Status fill(void* address, int value, size_t bytes) override {
    return add([address, value, bytes] { return fill_bytes(address, value, bytes); });
  }
  bool idle() const override {
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

 private:
  template <typename Work>
  Status add(Work work) {
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

  RemoteWorker& worker_;
  mutable std::mutex mutex_;
  int left_ = 0;
  Status failure_;
};

class RemoteDevice final : public Device {
 public:
  explicit RemoteDevice(const DeviceOptions& options)
      : Device(options.id, options.physical_id), bytes_(options.memory_bytes) {}

  const Capabilities& capabilities() const override {
    static constexpr Capabilities kRemote{.backend = "remote",
                                          .kernels = "cpu",
                                          .host_readable = false,
                                          .finishes_calls = false,
                                          .shared_memory = false,
                                          .media = false};
    return kRemote;
  }
  std::string description() const override { return format("remote, {} MiB", bytes_ >> 20); }

  Result<std::shared_ptr<DeviceMemory>> memory() override {
    std::lock_guard lock(mutex_);
    if (!memory_) {
      ANYNPU_ASSIGN(memory_, RemoteMemory::reserve(bytes_));
    }
    return std::shared_ptr<DeviceMemory>(memory_);
  }
  size_t memory_total() const override { return bytes_; }
  size_t memory_used() const override {
    std::lock_guard lock(mutex_);
    return memory_ ? memory_->used() : 0;
  }
  std::shared_ptr<Queue> create_queue(uint32_t) override {
    std::lock_guard lock(mutex_);
    if (!worker_) worker_ = new RemoteWorker;  // never ends: streams may outlive the devices
    return std::make_shared<RemoteQueue>(*worker_);
  }

 private:
  const size_t bytes_;
  mutable std::mutex mutex_;
  std::shared_ptr<RemoteMemory> memory_;
  RemoteWorker* worker_ = nullptr;
};

}  // namespace

}  // namespace anynpu::device

extern "C" __attribute__((visibility("default")))
const anynpu::device::Backend anynpu_remote_backend;
const anynpu::device::Backend anynpu_remote_backend{
    .name = "remote",
    .number = anynpu::device::Backend::Number::count,
    .create = [](const anynpu::device::DeviceOptions& options)
        -> anynpu::Result<std::shared_ptr<anynpu::device::Device>> {
      return std::shared_ptr<anynpu::device::Device>(
          std::make_shared<anynpu::device::RemoteDevice>(options));
    }};
