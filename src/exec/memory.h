// SPDX-License-Identifier: Apache-2.0
// Memory of a loaded model: ours or the caller's, of the host or of a device with kernels of its
// own. Ours on the host is aligned for large pages, since weights and arenas are streamed from end
// to end. Memory of a device is not dereferenced here (device/host_view.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace anynpu::device {
class Device;
}

namespace anynpu::exec {

// What the machine has: a tensor larger than this is refused before anything is sized after it.
int64_t machine_bytes();

class Memory {
 public:
  Memory() = default;
  static Result<Memory> allocate(size_t bytes);
  // A block of the device; nothing for 0 bytes.
  static Result<Memory> allocate_on(device::Device& device, size_t bytes);
  // Borrowed: must outlive this object. Fails when it is smaller than `needed` or not aligned
  // to 64.
  static Result<Memory> borrow(void* data, size_t bytes, size_t needed, const char* what);

  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::byte* data() const { return data_; }
  bool borrowed() const { return data_ != nullptr && !owned_ && !block_; }

 private:
  std::byte* data_ = nullptr;
  bool owned_ = false;           // by std::free
  std::shared_ptr<void> block_;  // of a device
};

}  // namespace anynpu::exec
