// SPDX-License-Identifier: Apache-2.0
// The back end `remote`: a device as far from the host as a GPU. Its memory cannot be read, its
// queues return before the work is done, nothing of it can be mapped or shared. A plug-in of the
// build tree only, opened by ANYNPU_DEVICES=remote:N.
#include <cstdlib>
#include <mutex>

#include "device/backend.h"
#include "device/device.h"
#include "remote_kernels.h"
#include "remote_queue.h"

namespace anynpu::device {

namespace {

class RemoteDevice final : public Device {
 public:
  explicit RemoteDevice(const DeviceOptions& options)
      : Device(options.id, options.physical_id), bytes_(options.memory_bytes) {
    add_remote_kernels();
  }

  const Capabilities& capabilities() const override {
    static constexpr Capabilities kRemote{.backend = "remote",
                                          .kernels = "remote",
                                          .host_readable = false,
                                          .finishes_calls = false,
                                          .shared_memory = false,
                                          .media = true};
    static constexpr Capabilities kWithoutKernels = [] {
      Capabilities fewer = kRemote;
      fewer.kernels = "cpu";
      fewer.media = false;
      return fewer;
    }();
    return with_kernels_ ? kRemote : kWithoutKernels;
  }
  size_t threads() const override { return 1; }
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
    (void)memory();
    std::lock_guard lock(mutex_);
    if (!worker_) worker_ = new RemoteWorker;  // never ends: streams may outlive the devices
    return std::make_shared<RemoteQueue>(*worker_, memory_);
  }

 private:
  const size_t bytes_;
  // Set by tests: a back end that has no kernels yet.
  const bool with_kernels_ = std::getenv("ANYNPU_REMOTE_NO_KERNELS") == nullptr;
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
