// SPDX-License-Identifier: Apache-2.0
// Queries about memory, and freeing it after all work of the device. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu::service {

// The block that contains `address`: of a device or the host, or mapped.
struct MemoryBlock {
  void* base = nullptr;
  size_t bytes = 0;
};
Result<MemoryBlock> memory_block(const void* address);

// A use of a device's memory. Lists start with the largest.
struct MemoryUser {
  std::string_view name;
  uint64_t bytes = 0;
  uint64_t peak = 0;
};
Result<std::vector<MemoryUser>> memory_users(int32_t device);

// Kinds of memory that can be or-ed.
enum MemoryTypes : uint32_t { kDeviceMemory = 2, kMediaMemory = 8, kReservedMemory = 16 };
// Whether each address is of one of the types. The media units work on all device memory.
Result<bool> are_of_types(std::span<void* const> addresses, uint32_t types);

// Which engines of a card reach memory that a program registered: by number, 0 to 9.
Result<bool> reaches_host_memory(int32_t device, int engine);

// Waits for the current device, then frees, even if its work failed; returns that failure.
Status free_device_after_work(void* address);
Status free_host_after_work(void* address);

}  // namespace anynpu::service
