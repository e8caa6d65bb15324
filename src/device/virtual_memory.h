// SPDX-License-Identifier: Apache-2.0
// Virtual memory: addresses reserved without memory behind them, and physical memory mapped into
// them. The range map knows every piece: `reserved` pieces refuse copies, `mapped` ones are memory
// of their device. Queued work keeps a mapping alive: an unmap takes effect when the last task that
// uses it is done, and until then the addresses cannot be mapped again. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "device/physical_memory.h"

namespace anynpu::device {

// `bytes` is rounded up to pages; `alignment` 0 or a power of two; `wanted` is a hint, or the place
// itself: already_exists when it is not free.
enum class Wanted : bool { hint, place };
Result<void*> reserve_addresses(size_t bytes, size_t alignment, void* wanted,
                                Wanted how = Wanted::hint);
// Fails while memory is mapped there.
Status release_addresses(void* address);

// Where memory is used from: the host, or a device.
struct AccessPlace {
  bool on_device = false;
  int32_t device_id = 0;
  auto operator<=>(const AccessPlace&) const = default;
};

// Maps `bytes` of `memory` from `offset` on. `address` lies on a page in a reserved range. With
// MapAccess::owner the place of the memory has access; with none nobody has, and copies are refused
// until access is given.
enum class MapAccess : bool { none, owner };
Status map_memory(void* address, size_t bytes, size_t offset,
                  std::shared_ptr<PhysicalMemory> memory, MapAccess access = MapAccess::owner);
// `address` is what map_memory got.
Status unmap_memory(void* address);

// Lets places read and write a mapping; `address` and `bytes` are what map_memory got.
Status give_access(void* address, size_t bytes, std::span<const AccessPlace> places);
// Whether a place has access to the mapping that contains `address`.
Result<bool> has_access(const void* address, const AccessPlace& place);

// The memory that is mapped at `address`, which is what map_memory got.
Result<std::shared_ptr<PhysicalMemory>> memory_mapped_at(const void* address);
// Maps what lies under `from` at `to` as well: both are starts of reservations of `bytes`. Each
// piece is unmapped on its own.
Status map_again(void* to, size_t bytes, const void* from);

}  // namespace anynpu::device
