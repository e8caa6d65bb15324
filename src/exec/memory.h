// SPDX-License-Identifier: Apache-2.0
// Memory of a loaded model: our own or the caller's, on the host or on a device with its own
// kernels. Our own host memory is aligned for huge pages, since weights and arenas are read from
// end to end. Device memory is not dereferenced here (device/host_view.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace anynpu::device {
class Device;
}

namespace anynpu::exec {

// The memory of the machine: a larger tensor is refused before anything is allocated for it.
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
