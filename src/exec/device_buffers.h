// SPDX-License-Identifier: Apache-2.0
// The buffers of one run for the kernels of a device: the program's own, or copies in device memory
// for those that are elsewhere, on the host or on another device.
#pragma once

#include <span>
#include <vector>

#include "device/device.h"
#include "device/device_memory.h"
#include "exec/memory.h"
#include "exec/model.h"

namespace anynpu::exec {

class DeviceBuffers {
 public:
  explicit DeviceBuffers(device::Device& device) : device_(device) {}

  // Replaces the addresses of tensors outside of the device, after copying them there.
  Status bring(std::span<void*> addresses, std::span<const TensorInfo> tensors,
               device::Access access);
  // Whether there are copies: the run must be over before copy_back() and before destruction.
  bool copied() const { return !copies_.empty(); }
  Status copy_back() const;

 private:
  struct Copy {
    void* original;
    size_t bytes;
    device::Access access;
    Memory memory;
  };
  device::Device& device_;
  std::vector<Copy> copies_;
};

}  // namespace anynpu::exec
