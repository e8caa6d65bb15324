// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: its memory is memory of this process, its queues and kernels run on the
// pool.
#pragma once

#include <mutex>

#include "device/backend.h"
#include "device/device.h"

namespace anynpu::device {

class CpuMemory;

class CpuDevice : public Device {
 public:
  CpuDevice(int32_t id, int32_t physical_id, size_t memory_bytes);

  const Capabilities& capabilities() const override;
  std::string description() const override;
  Result<std::shared_ptr<DeviceMemory>> memory() override;
  size_t memory_total() const override { return memory_bytes_; }
  size_t memory_used() const override;
  std::shared_ptr<Queue> create_queue(uint32_t priority) override;

 private:
  const size_t memory_bytes_;
  mutable std::mutex mutex_;
  std::shared_ptr<CpuMemory> memory_;
};

extern const Backend kCpuBackend;

}  // namespace anynpu::device
