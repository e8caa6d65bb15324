// SPDX-License-Identifier: Apache-2.0
// Memory for the work of one stream: from the allocator that a program registered for the stream,
// or else from the device. Thread-safe; the program's functions are called with no lock held, from
// the thread that asks for memory or finishes the work.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/memory.h"
#include "device/stream.h"

namespace anynpu::device {

// Functions of the program. A block is whatever `allocate` returns; `address_of` gives its
// address.
struct StreamAllocator {
  void* object = nullptr;
  void* (*allocate)(void* object, size_t bytes) = nullptr;
  void (*release)(void* object, void* block) = nullptr;
  void* (*allocate_near)(void* object, size_t bytes, void* address) = nullptr;  // optional
  void* (*address_of)(void* block) = nullptr;
  Handle desc = 0;  // the description it was registered with
};

// What a program fills in before it registers.
class AllocatorDesc {
 public:
  template <typename Field>
  void set(Field StreamAllocator::*field, Field value) {
    std::lock_guard lock(mutex_);
    functions_.*field = value;
  }
  StreamAllocator functions() const {
    std::lock_guard lock(mutex_);
    return functions_;
  }

 private:
  mutable std::mutex mutex_;
  StreamAllocator functions_;
};

// Replaces an earlier one of the stream. Fails when a required function is missing.
Status register_allocator(const std::shared_ptr<Stream>& stream, const StreamAllocator& functions);
// Not an error if none is registered.
Status unregister_allocator(const Stream& stream);
std::optional<StreamAllocator> allocator_of(const Stream& stream);

// A block for the work of a stream, freed when the last reference is gone.
class Workspace {
 public:
  static Result<std::shared_ptr<Workspace>> take(Stream& stream, size_t bytes);
  ~Workspace();
  uint8_t* address() const { return address_; }

  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

 private:
  Workspace() = default;
  std::optional<StreamAllocator> allocator_;  // unset: memory of the device, or of the host
  void* block_ = nullptr;
  uint8_t* address_ = nullptr;
  bool on_device_ = false;
};

// A copy whose host memory need not be pinned: bytes from the host are first copied into a
// workspace of the stream, so the program may reuse its memory as soon as this returns.
Status copy_async_staged(const Copy& request, Stream& stream);

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::AllocatorDesc, allocator_desc);
}
