// SPDX-License-Identifier: Apache-2.0
#include "service/collective/windows.h"

#include <map>
#include <memory>
#include <mutex>

#include "base/guarded_touch.h"
#include "device/memory.h"
#include "service/collective/communicators.h"

namespace anynpu::service {

using collective::Communicator;

namespace {

using Ranges = std::map<uintptr_t, size_t>;  // start, bytes
struct Announced {
  std::weak_ptr<Communicator> communicator;
  Ranges ranges, active;
  std::map<uintptr_t, std::pair<uintptr_t, size_t>> windows;
};
struct Table {
  std::mutex mutex;
  std::map<const Communicator*, Announced> all;
  uintptr_t next_window = 1;
};
Table& table() {
  static auto* all = new Table;
  return *all;
}

// That of the communicator; those of ended ones go.
Announced& announced_by(const std::shared_ptr<Communicator>& communicator) {
  auto& all = table().all;
  for (auto at = all.begin(); at != all.end();) {
    at = at->second.communicator.expired() ? all.erase(at) : std::next(at);
  }
  Announced& found = all[communicator.get()];
  found.communicator = communicator;
  return found;
}

uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

Status check_extent(const void* address, size_t bytes) {
  if (address && bytes && number(address) + bytes > number(address)) return {};
  return fail(Code::invalid_argument, "{} bytes at {}; expected memory and at least one byte",
              bytes, address);
}

bool contains(const Ranges& ranges, uintptr_t start, size_t bytes) {
  auto at = ranges.upper_bound(start);
  if (at == ranges.begin()) return false;
  --at;
  return start - at->first <= at->second && bytes <= at->second - (start - at->first);
}
bool touches(const Ranges& ranges, uintptr_t start, size_t bytes) {
  for (const auto& [other, size] : ranges) {
    if (start < other + size && other < start + bytes) return true;
  }
  return false;
}

Status take_out(Ranges& ranges, const void* start, const char* what) {
  if (ranges.erase(number(start))) return {};
  return fail(Code::not_found, "no {} of this communicator starts at {}", what, start);
}

}  // namespace

Status set_memory_range(Handle communicator, void* base, size_t bytes) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  ANYNPU_TRY(check_extent(base, bytes));
  std::lock_guard lock(table().mutex);
  Ranges& ranges = announced_by(group).ranges;
  if (touches(ranges, number(base), bytes)) {
    return fail(Code::already_exists,
                "{} bytes at {} overlap a range that is set; unset that one first", bytes, base);
  }
  ranges[number(base)] = bytes;
  return {};
}

Status unset_memory_range(Handle communicator, void* base) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  std::lock_guard lock(table().mutex);
  return take_out(announced_by(group).ranges, base, "memory range");
}

Status activate_memory(Handle communicator, void* address, size_t bytes) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  ANYNPU_TRY(check_extent(address, bytes));
  std::lock_guard lock(table().mutex);
  Announced& announced = announced_by(group);
  if (!contains(announced.ranges, number(address), bytes)) {
    return fail(Code::not_found,
                "{} bytes at {} lie in no memory range of this communicator; set the range first",
                bytes, address);
  }
  announced.active[number(address)] = bytes;
  return {};
}

Status deactivate_memory(Handle communicator, void* address) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  std::lock_guard lock(table().mutex);
  return take_out(announced_by(group).active, address, "active memory");
}

Result<void*> register_window(Handle communicator, void* address, size_t bytes) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  ANYNPU_TRY(check_extent(address, bytes));
  ANYNPU_TRY(device::check_range(address, bytes, device::Access::read, "addr").status());
  std::lock_guard lock(table().mutex);
  const uintptr_t window = table().next_window++;
  announced_by(group).windows[window] = {number(address), bytes};
  return reinterpret_cast<void*>(window);
}

Status deregister_window(Handle communicator, void* window) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  std::lock_guard lock(table().mutex);
  if (announced_by(group).windows.erase(number(window))) return {};
  return fail(Code::not_found, "{} is no window that this communicator registered", window);
}

Status exchange_window(Handle communicator, void* window, const uint32_t* peers, uint32_t count) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  if (count && (!peers || !can_read(peers, count * sizeof *peers))) {
    return fail(Code::invalid_argument, "peerRanks is {}; expected {} ranks",
                static_cast<const void*>(peers), count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (peers[i] < group->size()) continue;
    return fail(Code::invalid_argument, "peerRanks[{}] is {}; expected a rank below {}", i,
                peers[i], group->size());
  }
  std::lock_guard lock(table().mutex);
  if (announced_by(group).windows.count(number(window))) return {};
  return fail(Code::not_found, "{} is no window that this communicator registered", window);
}

Status set_working_cards(Handle communicator, const uint32_t* ranks, const bool* backup,
                         uint32_t count) {
  ANYNPU_ASSIGN(const auto group, find_communicator(communicator));
  if (count == 0 || !ranks || !backup || !can_read(ranks, count * sizeof *ranks) ||
      !can_read(backup, count)) {
    return fail(Code::invalid_argument, "ranks is {} and useBackup is {}; expected {} of each",
                static_cast<const void*>(ranks), static_cast<const void*>(backup), count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (ranks[i] >= group->size()) {
      return fail(Code::invalid_argument, "ranks[{}] is {}; expected a rank below {}", i, ranks[i],
                  group->size());
    }
    if (backup[i]) {
      return fail(Code::unsupported_feature,
                  "rank {} has no backup network card: devices here have no cards of their own",
                  ranks[i]);
    }
  }
  return {};
}

}  // namespace anynpu::service
