// SPDX-License-Identifier: Apache-2.0
#include "device/range_map.h"

#include <array>
#include <mutex>

#include "device/arena.h"

namespace anynpu::device {

const char* name_of(MemoryKind kind) {
  static constexpr std::array kNames = {"device memory",          "pinned host memory",
                                        "registered host memory", "reserved addresses",
                                        "mapped memory",          "imported memory"};
  return kNames[static_cast<size_t>(kind)];
}

Allocation::~Allocation() {
  backing.reset();
  if (arena) arena->give_back(base, bytes);
}

RangeMap& RangeMap::instance() {
  static auto* map = new RangeMap;  // programs free memory in destructors after main
  return *map;
}

bool RangeMap::insert(std::shared_ptr<Allocation> allocation) {
  std::unique_lock lock(mutex_);
  auto next = by_base_.lower_bound(allocation->base);
  if (next != by_base_.end() && next->first < allocation->end()) return false;
  if (next != by_base_.begin() && std::prev(next)->second->end() > allocation->base) return false;
  by_base_.emplace_hint(next, allocation->base, std::move(allocation));
  return true;
}

std::shared_ptr<Allocation> RangeMap::find(uintptr_t address) const {
  std::shared_lock lock(mutex_);
  auto next = by_base_.upper_bound(address);
  if (next == by_base_.begin()) return nullptr;
  const auto& candidate = std::prev(next)->second;
  return address < candidate->end() ? candidate : nullptr;
}

std::shared_ptr<Allocation> RangeMap::remove(uintptr_t base, MemoryKind kind) {
  std::unique_lock lock(mutex_);
  auto entry = by_base_.find(base);
  if (entry == by_base_.end() || entry->second->kind != kind) return nullptr;
  auto allocation = std::move(entry->second);
  by_base_.erase(entry);
  return allocation;
}

std::vector<std::shared_ptr<Allocation>> RangeMap::remove_device(int32_t device_id) {
  std::vector<std::shared_ptr<Allocation>> removed;
  std::unique_lock lock(mutex_);
  for (auto entry = by_base_.begin(); entry != by_base_.end();) {
    if (entry->second->device_id == device_id) {
      removed.push_back(std::move(entry->second));
      entry = by_base_.erase(entry);
    } else {
      ++entry;
    }
  }
  return removed;
}

size_t RangeMap::size() const {
  std::shared_lock lock(mutex_);
  return by_base_.size();
}

}  // namespace anynpu::device
