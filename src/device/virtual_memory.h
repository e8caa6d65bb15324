// SPDX-License-Identifier: Apache-2.0
// Virtual memory: addresses reserved without memory behind them, and physical memory mapped into
// them. The range map knows every piece: `reserved` pieces refuse copies, `mapped` ones are memory
// of their device. Queued work keeps a mapping alive: an unmap takes effect when the last task that
// uses it is done, and until then the addresses cannot be mapped again. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "device/physical_memory.h"

namespace anynpu::device {

// `bytes` is rounded up to pages; `alignment` 0 or a power of two; `wanted` is a hint.
Result<void*> reserve_addresses(size_t bytes, size_t alignment, void* wanted);
// Fails while memory is mapped there.
Status release_addresses(void* address);

// Maps `bytes` of `memory` from `offset` on. `address` lies on a page in a reserved range.
Status map_memory(void* address, size_t bytes, size_t offset,
                  std::shared_ptr<PhysicalMemory> memory);
// `address` is what map_memory got.
Status unmap_memory(void* address);

}  // namespace anynpu::device
