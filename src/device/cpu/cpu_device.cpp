// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_device.h"

#include "base/thread_pool.h"
#include "device/cpu/cpu_memory.h"
#include "device/cpu/cpu_queue.h"

namespace anynpu::device {

CpuDevice::CpuDevice(int32_t id, int32_t physical_id, size_t memory_bytes)
    : Device(id, physical_id), memory_bytes_(memory_bytes) {}

const Capabilities& CpuDevice::capabilities() const {
  static constexpr Capabilities kCpu{.backend = "cpu"};
  return kCpu;
}

std::string CpuDevice::description() const {
  return format("CPU, {} threads, {} MiB", ThreadPool::instance().threads(), memory_bytes_ >> 20);
}

Result<std::shared_ptr<DeviceMemory>> CpuDevice::memory() {
  std::lock_guard lock(mutex_);
  if (!memory_) {
    ANYNPU_ASSIGN(memory_, CpuMemory::reserve(memory_bytes_, CpuMemory::kPageUnit));
  }
  return std::shared_ptr<DeviceMemory>(memory_);
}

size_t CpuDevice::memory_used() const {
  std::lock_guard lock(mutex_);
  return memory_ ? memory_->used() : 0;
}

std::shared_ptr<Queue> CpuDevice::create_queue(uint32_t) { return shared_cpu_queue(); }

const std::shared_ptr<Queue>& shared_cpu_queue() {
  static const auto* queue = new std::shared_ptr<Queue>(std::make_shared<CpuQueue>());
  return *queue;
}

const Backend kCpuBackend{
    .name = "cpu",
    .number = Backend::Number::count,
    .create = [](const DeviceOptions& options) -> Result<std::shared_ptr<Device>> {
      return std::shared_ptr<Device>(
          std::make_shared<CpuDevice>(options.id, options.physical_id, options.memory_bytes));
    }};

}  // namespace anynpu::device
