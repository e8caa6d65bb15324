// SPDX-License-Identifier: Apache-2.0
#include "device/virtual_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/align.h"
#include "base/fork_guard.h"
#include "device/range_map.h"

namespace anynpu::device {

namespace {

constexpr size_t kPage = SharedFile::kPageBytes;
constexpr size_t kMostBytes = size_t{1} << 46;

// Mapped, or unmapped but still in use by queued work.
struct Mapping {
  size_t bytes = 0;
  std::weak_ptr<PhysicalMemory> memory{};
  std::set<AccessPlace> access{};
};

struct Reservation {
  size_t bytes = 0;
  std::map<uintptr_t, Mapping> taken;
  std::vector<uintptr_t> gaps;  // what the range map was told to be reserved
};

// Every reservation of the process. No range of the range map is dropped while the mutex is held:
// the end of a mapping takes it.
struct Reservations {
  std::mutex mutex;
  std::map<uintptr_t, Reservation> by_base;

  Reservation* containing(uintptr_t address, uintptr_t* base) {
    auto next = by_base.upper_bound(address);
    if (next == by_base.begin()) return nullptr;
    --next;
    *base = next->first;
    return address - next->first < next->second.bytes ? &next->second : nullptr;
  }

  // Makes the range map's reserved pieces the gaps between what is taken.
  void describe_gaps(uintptr_t base, Reservation& reservation) {
    auto insert_gap = [&](uintptr_t from, uintptr_t to) {
      if (from >= to) return;
      auto gap = std::make_shared<Allocation>();
      gap->base = from;
      gap->bytes = to - from;
      gap->kind = MemoryKind::reserved;
      if (RangeMap::instance().insert(std::move(gap))) reservation.gaps.push_back(from);
    };
    forget_gaps(reservation);
    uintptr_t at = base;
    for (const auto& [start, mapping] : reservation.taken) {
      insert_gap(at, start);
      at = start + mapping.bytes;
    }
    insert_gap(at, base + reservation.bytes);
  }

  // The mapping that contains `address`, and where it starts.
  Mapping* mapping(uintptr_t address, uintptr_t* start) {
    uintptr_t base = 0;
    Reservation* reservation = containing(address, &base);
    if (!reservation) return nullptr;
    auto next = reservation->taken.upper_bound(address);
    if (next == reservation->taken.begin()) return nullptr;
    --next;
    *start = next->first;
    return address - next->first < next->second.bytes ? &next->second : nullptr;
  }

  void forget_gaps(Reservation& reservation) {
    for (const uintptr_t gap : reservation.gaps)
      RangeMap::instance().remove(gap, MemoryKind::reserved);
    reservation.gaps.clear();
  }
};
Reservations& reservations() {
  static auto* all = new Reservations;
  return *all;
}

// One mapping; its end puts back addresses without memory.
struct MappedPiece {
  uintptr_t base;
  size_t bytes;
  std::shared_ptr<PhysicalMemory> memory;

  ~MappedPiece() {
    auto& all = reservations();
    std::lock_guard lock(all.mutex);
    static_cast<void>(mmap(reinterpret_cast<void*>(base), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
    uintptr_t start = 0;
    if (Reservation* found = all.containing(base, &start)) {
      found->taken.erase(base);
      all.describe_gaps(start, *found);
    }
  }
};

// One reservation takes memory of one device, and either own or imported.
Status check_mixture(const Reservation& reservation, const PhysicalMemory& memory) {
  for (const auto& [start, mapping] : reservation.taken) {
    const auto other = mapping.memory.lock();
    if (!other ||
        (other->device_id() == memory.device_id() && other->imported() == memory.imported())) {
      continue;
    }
    return fail(Code::invalid_argument,
                "the reservation has {} memory of device {} at {:#x}, and this is {} memory of "
                "device {}; use a reservation for each",
                other->imported() ? "imported" : "own", other->device_id(), start,
                memory.imported() ? "imported" : "own", memory.device_id());
  }
  return {};
}

Status not_reserved(const void* address) {
  return fail(Code::invalid_address,
              "{} is not the start of reserved addresses; pass what reserve_mem_address returned",
              address);
}

}  // namespace

Result<void*> reserve_addresses(size_t bytes, size_t alignment, void* wanted, Wanted how) {
  if (bytes == 0 || bytes > kMostBytes) {
    return fail(Code::invalid_argument, "the size is {}; expected 1 to {} bytes", bytes,
                kMostBytes);
  }
  if (alignment & (alignment - 1) || alignment > kMostBytes) {
    return fail(Code::invalid_argument, "the alignment is {}; expected 0 or a power of two",
                alignment);
  }
  mark_runtime_used();
  bytes = round_up(bytes, kPage);
  alignment = std::max(alignment, kPage);
  const size_t room = bytes + alignment - kPage;
  void* got = mmap(wanted, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    return fail(Code::out_of_memory, "cannot reserve {} bytes of addresses ({}); ask for less",
                bytes, std::string(std::strerror(errno)));
  }
  if (how == Wanted::place && got != wanted) {
    munmap(got, room);
    return fail(Code::already_exists, "{} bytes at {} are not free; choose another place", bytes,
                wanted);
  }
  const auto start = reinterpret_cast<uintptr_t>(got);
  const uintptr_t base = round_up(start, alignment);
  if (base > start) munmap(got, base - start);
  if (start + room > base + bytes) {
    munmap(reinterpret_cast<void*>(base + bytes), start + room - base - bytes);
  }
  auto& all = reservations();
  std::lock_guard lock(all.mutex);
  auto& reservation = all.by_base[base];
  reservation.bytes = bytes;
  all.describe_gaps(base, reservation);
  return reinterpret_cast<void*>(base);
}

Status release_addresses(void* address) {
  auto& all = reservations();
  std::lock_guard lock(all.mutex);
  const auto found = all.by_base.find(reinterpret_cast<uintptr_t>(address));
  if (found == all.by_base.end()) return not_reserved(address);
  if (!found->second.taken.empty()) {
    return fail(Code::invalid_argument,
                "{} mappings are left in the addresses at {}, or queued work still uses them; call "
                "unmap_mem for each and synchronize before the release",
                found->second.taken.size(), address);
  }
  all.forget_gaps(found->second);
  munmap(address, found->second.bytes);
  all.by_base.erase(found);
  return {};
}

Status map_memory(void* address, size_t bytes, size_t offset,
                  std::shared_ptr<PhysicalMemory> memory, MapAccess access) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  if (start % kPage || offset % kPage) {
    return fail(Code::unaligned_address,
                "address {} and offset {} must be multiples of {}; see "
                "mem_get_allocation_granularity",
                address, offset, kPage);
  }
  if (bytes == 0 || offset > memory->bytes() || bytes > memory->bytes() - offset) {
    return fail(Code::invalid_argument,
                "{} bytes at offset {} do not lie in physical memory of {} bytes; map at most that",
                bytes, offset, memory->bytes());
  }
  bytes = round_up(bytes, kPage);
  auto piece = std::make_shared<Allocation>();  // outlives the lock: its end takes it
  auto& all = reservations();
  std::lock_guard lock(all.mutex);
  uintptr_t base = 0;
  Reservation* reservation = all.containing(start, &base);
  if (!reservation || bytes > reservation->bytes - (start - base)) {
    return fail(Code::invalid_address,
                "{} bytes at {} do not lie in reserved addresses; call reserve_mem_address with "
                "enough room first",
                bytes, address);
  }
  for (const auto& [other, mapping] : reservation->taken) {
    const size_t other_bytes = mapping.bytes;
    if (other < start + bytes && start < other + other_bytes) {
      return fail(
          Code::already_exists,
          "memory is mapped at {:#x} already ({} bytes), or queued work still uses it; call "
          "unmap_mem and synchronize first",
          other, other_bytes);
    }
  }
  ANYNPU_TRY(check_mixture(*reservation, *memory));
  ANYNPU_TRY(memory->file().map(address, bytes, offset).status());
  Mapping mapping{bytes, memory};
  piece->base = start;
  piece->bytes = bytes;
  piece->kind = access == MapAccess::owner ? MemoryKind::mapped : MemoryKind::reserved;
  piece->device_id = memory->device_id();
  if (access == MapAccess::owner) {
    mapping.access.insert({memory->device_id() >= 0, std::max(memory->device_id(), 0)});
  } else {
    (void)mprotect(address, bytes, PROT_NONE);
  }
  piece->backing = std::make_shared<MappedPiece>(start, bytes, std::move(memory));
  reservation->taken[start] = std::move(mapping);
  all.describe_gaps(base, *reservation);
  RangeMap::instance().insert(piece);
  return {};
}

Status unmap_memory(void* address) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  if (RangeMap::instance().remove(start, MemoryKind::mapped)) return {};
  {
    uintptr_t base = 0;
    std::unique_lock lock(reservations().mutex);
    const bool mapped = reservations().mapping(start, &base) && base == start;
    const auto piece = mapped ? RangeMap::instance().remove(start, MemoryKind::reserved) : nullptr;
    lock.unlock();  // the end of the piece takes it
    if (piece) return {};
  }
  return fail(Code::invalid_address,
              "nothing is mapped at {}; pass the address that map_mem got, once", address);
}

Status give_access(void* address, size_t bytes, std::span<const AccessPlace> places) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  std::shared_ptr<Allocation> ended;  // outlives the lock
  const std::lock_guard lock(reservations().mutex);
  uintptr_t base = 0;
  Mapping* mapping = reservations().mapping(start, &base);
  if (!mapping || base != start || bytes != mapping->bytes) {
    return fail(Code::invalid_address,
                "no mapping of {} bytes starts at {}; pass the address and the size of the mapping",
                bytes, address);
  }
  if (mapping->access.empty()) {
    ended = RangeMap::instance().remove(start, MemoryKind::reserved);
    if (!ended) {
      return fail(Code::invalid_address, "the mapping at {} has ended; map memory there again",
                  address);
    }
    auto piece = std::make_shared<Allocation>();
    piece->base = start;
    piece->bytes = bytes;
    piece->kind = MemoryKind::mapped;
    piece->device_id = ended->device_id;
    piece->backing = std::move(ended->backing);
    (void)mprotect(address, bytes, PROT_READ | PROT_WRITE);
    RangeMap::instance().insert(std::move(piece));
  }
  mapping->access.insert(places.begin(), places.end());
  return {};
}

Result<bool> has_access(const void* address, const AccessPlace& place) {
  const std::lock_guard lock(reservations().mutex);
  uintptr_t start = 0;
  const Mapping* mapping = reservations().mapping(reinterpret_cast<uintptr_t>(address), &start);
  if (!mapping) {
    return fail(Code::invalid_address, "nothing is mapped at {}; map physical memory there first",
                address);
  }
  return mapping->access.contains(place);
}

Result<std::shared_ptr<PhysicalMemory>> memory_mapped_at(const void* address) {
  const std::lock_guard lock(reservations().mutex);
  uintptr_t start = 0;
  const Mapping* mapping = reservations().mapping(reinterpret_cast<uintptr_t>(address), &start);
  auto memory = mapping ? mapping->memory.lock() : nullptr;
  if (memory && start == reinterpret_cast<uintptr_t>(address)) return memory;
  return fail(Code::invalid_address, "no mapping starts at {}; pass the address that map_mem got",
              address);
}

Status map_again(void* to, size_t bytes, const void* from) {
  struct Piece {
    size_t at;
    size_t bytes;
    std::shared_ptr<PhysicalMemory> memory;
  };
  std::vector<Piece> pieces;
  {
    auto& all = reservations();
    const std::lock_guard lock(all.mutex);
    const auto target = all.by_base.find(reinterpret_cast<uintptr_t>(to));
    const auto source = all.by_base.find(reinterpret_cast<uintptr_t>(from));
    if (target == all.by_base.end()) return not_reserved(to);
    if (source == all.by_base.end()) return not_reserved(from);
    if (target->second.bytes != bytes || source->second.bytes != bytes) {
      return fail(Code::invalid_argument,
                  "size is {}; the reservations have {} and {} bytes, and all three are equal",
                  bytes, target->second.bytes, source->second.bytes);
    }
    for (const auto& [start, mapping] : source->second.taken) {
      pieces.push_back({start - source->first, mapping.bytes, mapping.memory.lock()});
    }
  }
  if (pieces.empty()) return fail(Code::invalid_address, "nothing is mapped at {}", from);
  for (const Piece& piece : pieces) {
    if (!piece.memory) continue;
    ANYNPU_TRY(map_memory(static_cast<std::byte*>(to) + piece.at, piece.bytes, 0, piece.memory));
  }
  return {};
}

}  // namespace anynpu::device
