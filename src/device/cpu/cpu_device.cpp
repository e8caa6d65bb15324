// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_device.h"

#include "base/thread_pool.h"
#include "device/arena.h"

namespace anynpu::device {

CpuDevice::CpuDevice(int32_t id, int32_t physical_id, size_t memory_bytes)
    : Device(id, physical_id), memory_bytes_(memory_bytes) {}

std::string CpuDevice::description() const {
  return format("CPU, {} threads, {} MiB", ThreadPool::instance().threads(), memory_bytes_ >> 20);
}

Result<std::shared_ptr<Arena>> CpuDevice::arena() {
  std::lock_guard lock(mutex_);
  if (!arena_) {
    ANYNPU_ASSIGN(arena_, Arena::reserve(memory_bytes_, Arena::kPageUnit));
  }
  return arena_;
}

size_t CpuDevice::memory_used() const {
  std::lock_guard lock(mutex_);
  return arena_ ? arena_->used() : 0;
}

}  // namespace anynpu::device
