// SPDX-License-Identifier: Apache-2.0
#include "device/range_map.h"

#include <algorithm>
#include <bit>

#include "base/pin_cells.h"
#include "device/device_memory.h"
#include "device/process_page.h"

namespace anynpu::device {

const char* name_of(MemoryKind kind) {
  static constexpr std::array kNames = {
      "device memory", "pinned host memory", "registered host memory", "reserved addresses",
      "mapped memory", "imported memory",    "memory of a pool"};
  return kNames[static_cast<size_t>(kind)];
}

Allocation::~Allocation() {
  backing.reset();
  if (!memory || kind == MemoryKind::pooled) return;
  memory->give_back(base, bytes);
  if (device_id >= 0) publish_memory(device_id, memory->used());
}

RangeMap& RangeMap::instance() {
  static auto* map = new RangeMap;  // programs free memory in destructors after main
  return *map;
}

RangeMap::~RangeMap() {
  Node* next = head_.next[0].load(std::memory_order_relaxed);
  while (next) {
    const std::unique_ptr<Node> node(next);
    next = node->next[0].load(std::memory_order_relaxed);
  }
}

RangeMap::Path RangeMap::path_to(uintptr_t base) {
  Path path;
  Node* last = &head_;
  for (size_t level = kLevels; level-- > 0;) {
    while (Node* next = last->next[level].load(std::memory_order_relaxed)) {
      if (next->base >= base) break;
      last = next;
    }
    path[level] = last;
  }
  return path;
}

size_t RangeMap::random_height() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  return std::min(kLevels, 1 + static_cast<size_t>(std::countr_zero(random_)) / 2);
}

bool RangeMap::insert(std::shared_ptr<Allocation> allocation) {
  const uintptr_t base = allocation->base, end = allocation->end();
  const std::lock_guard lock(mutex_);
  const Path path = path_to(base);
  const Node* next = path[0]->next[0].load(std::memory_order_relaxed);
  if (path[0]->end > base || (next && next->base < end)) return false;
  auto* node = new Node{base, end, std::move(allocation), {}};
  const size_t height = random_height();
  for (size_t level = 0; level < height; ++level) {
    std::atomic<Node*>& link = path[level]->next[level];
    node->next[level].store(link.load(std::memory_order_relaxed), std::memory_order_relaxed);
    link.store(node, std::memory_order_release);
  }
  size_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::shared_ptr<Allocation> RangeMap::find(uintptr_t address) const {
  PinCell* const cell = pin_in_cell(this);
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!cell) [[unlikely]]
    lock.lock();
  const Node* last = &head_;  // in the end, the last one that does not start behind the address
  for (size_t level = kLevels; level-- > 0;) {
    while (const Node* next = last->next[level].load(std::memory_order_seq_cst)) {
      if (next->base > address) break;
      last = next;
    }
  }
  std::shared_ptr<Allocation> found;
  if (address < last->end) found = last->allocation;
  if (cell) cell->store(nullptr, std::memory_order_release);
  return found;
}

void RangeMap::unlink(const Path& path, Node* node) {
  for (size_t level = kLevels; level-- > 0;) {
    std::atomic<Node*>& link = path[level]->next[level];
    if (link.load(std::memory_order_relaxed) != node) continue;
    link.exchange(node->next[level].load(std::memory_order_relaxed), std::memory_order_seq_cst);
  }
  size_.fetch_sub(1, std::memory_order_relaxed);
}

std::shared_ptr<Allocation> RangeMap::remove(uintptr_t base, MemoryKind kind) {
  const std::lock_guard lock(mutex_);
  const Path path = path_to(base);
  Node* const node = path[0]->next[0].load(std::memory_order_relaxed);
  if (!node || node->base != base || node->allocation->kind != kind) return nullptr;
  unlink(path, node);
  wait_until_unpinned(this);
  const std::unique_ptr<Node> owned(node);
  return std::move(owned->allocation);
}

std::vector<std::shared_ptr<Allocation>> RangeMap::remove_device(int32_t device_id) {
  const std::lock_guard lock(mutex_);
  std::vector<std::unique_ptr<Node>> nodes;
  Node* next = head_.next[0].load(std::memory_order_relaxed);
  while (Node* const node = next) {
    next = node->next[0].load(std::memory_order_relaxed);
    if (node->allocation->device_id != device_id) continue;
    unlink(path_to(node->base), node);
    nodes.emplace_back(node);
  }
  wait_until_unpinned(this);
  std::vector<std::shared_ptr<Allocation>> removed;
  for (const std::unique_ptr<Node>& node : nodes) removed.push_back(std::move(node->allocation));
  return removed;
}

std::vector<std::shared_ptr<Allocation>> RangeMap::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Allocation>> list;
  for (const Node* node = head_.next[0].load(std::memory_order_relaxed); node;
       node = node->next[0].load(std::memory_order_relaxed)) {
    list.push_back(node->allocation);
  }
  return list;
}

}  // namespace anynpu::device
