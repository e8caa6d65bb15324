// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: its memory is an arena of this process, its kernels run on the pool.
#pragma once

#include <mutex>

#include "device/device.h"

namespace anynpu::device {

class CpuDevice : public Device {
 public:
  CpuDevice(int32_t id, int32_t physical_id, size_t memory_bytes);

  std::string description() const override;
  Result<std::shared_ptr<Arena>> arena() override;
  size_t memory_total() const override { return memory_bytes_; }
  size_t memory_used() const override;

 private:
  const size_t memory_bytes_;
  mutable std::mutex mutex_;
  std::shared_ptr<Arena> arena_;
};

}  // namespace anynpu::device
