// SPDX-License-Identifier: Apache-2.0
// Virtual memory: addresses reserved without memory, and physical memory mapped to them. The range
// map knows every piece: `reserved` pieces refuse copies, `mapped` ones are memory of their device.
// Queued work keeps a mapping alive: an unmap takes effect when the last task that uses it is done,
// and until then the addresses cannot be mapped again. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "device/physical_memory.h"

namespace anynpu::device {

// `bytes` is rounded up to pages; `alignment` is 0 or a power of two; `wanted` is a hint, or the
// exact address: already_exists when that is not free.
enum class Wanted : bool { hint, place };
Result<void*> reserve_addresses(size_t bytes, size_t alignment, void* wanted,
                                Wanted how = Wanted::hint);
// Fails while memory is mapped there.
Status release_addresses(void* address);

// Who accesses memory: the host, or a device.
struct AccessPlace {
  bool on_device = false;
  int32_t device_id = 0;
  auto operator<=>(const AccessPlace&) const = default;
};

// Maps `bytes` of `memory` from `offset` on. `address` is page-aligned in a reserved range. With
// MapAccess::owner the owner of the memory has access; with none nobody has, and copies are refused
// until access is given.
enum class MapAccess : bool { none, owner };
Status map_memory(void* address, size_t bytes, size_t offset,
                  std::shared_ptr<PhysicalMemory> memory, MapAccess access = MapAccess::owner);
// `address` is the one passed to map_memory.
Status unmap_memory(void* address);

// Grants access to a mapping; `address` and `bytes` are those passed to map_memory.
Status give_access(void* address, size_t bytes, std::span<const AccessPlace> places);
// Whether `place` has access to the mapping that contains `address`.
Result<bool> has_access(const void* address, const AccessPlace& place);

// The memory mapped at `address`, which is the one passed to map_memory.
Result<std::shared_ptr<PhysicalMemory>> memory_mapped_at(const void* address);
// Maps the memory at `from` at `to` as well: both are starts of reservations of `bytes`. Each
// piece is unmapped separately.
Status map_again(void* to, size_t bytes, const void* from);

}  // namespace anynpu::device
