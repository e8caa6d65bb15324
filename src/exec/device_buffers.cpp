// SPDX-License-Identifier: Apache-2.0
#include "exec/device_buffers.h"

#include <utility>

#include "device/host_view.h"

namespace anynpu::exec {

Status DeviceBuffers::bring(std::span<void*> addresses, std::span<const TensorInfo> tensors,
                            device::Access access) {
  ANYNPU_ASSIGN(const auto memory, device_.memory());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const size_t bytes = tensors[i].bytes;
    if (bytes == 0 || memory->contains(reinterpret_cast<uintptr_t>(addresses[i]))) continue;
    ANYNPU_ASSIGN(Memory block, Memory::allocate_on(device_, bytes));
    // Also for an output: bytes that a run does not write stay as they are.
    ANYNPU_TRY(device::copy_bytes(block.data(), addresses[i], bytes));
    void* const original = std::exchange(addresses[i], block.data());
    copies_.push_back({original, bytes, access, std::move(block)});
  }
  return {};
}

Status DeviceBuffers::copy_back() const {
  for (const Copy& copy : copies_) {
    if (copy.access == device::Access::read) continue;
    ANYNPU_TRY(device::copy_bytes(copy.original, copy.memory.data(), copy.bytes));
  }
  return {};
}

}  // namespace anynpu::exec
