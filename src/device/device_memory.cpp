// SPDX-License-Identifier: Apache-2.0
#include "device/device_memory.h"

#include <cstring>
#include <mutex>
#include <vector>

#include "base/align.h"

namespace anynpu::device {

std::atomic<bool> host_reads_all{true};

namespace {

// Every memory alive, for find(). Few, and rarely changed.
struct AllMemory {
  std::mutex mutex;
  std::vector<std::weak_ptr<DeviceMemory>> list;
};
AllMemory& all_memory() {
  static auto* all = new AllMemory;
  return *all;
}

}  // namespace

void DeviceMemory::make_known(const std::shared_ptr<DeviceMemory>& memory) {
  if (!memory->host_readable()) host_reads_all.store(false);
  std::lock_guard lock(all_memory().mutex);
  std::erase_if(all_memory().list, [](const auto& known) { return known.expired(); });
  all_memory().list.push_back(memory);
}

std::shared_ptr<DeviceMemory> DeviceMemory::find(uintptr_t address) {
  std::lock_guard lock(all_memory().mutex);
  for (const auto& known : all_memory().list) {
    auto memory = known.lock();
    if (memory && memory->contains(address)) return memory;
  }
  return nullptr;
}

Status DeviceMemory::with_host_view(std::span<HostRange* const> ranges, const HostWork& work) {
  std::vector<std::vector<std::byte>> staged(ranges.size());
  std::vector<void*> addresses(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    HostRange& range = *ranges[i];
    staged[i].resize(range.bytes);
    addresses[i] = range.address;
    ANYNPU_TRY(copy({staged[i].data(), range.address, range.bytes}));
    range.address = staged[i].data();
  }
  Status status = work();
  for (size_t i = 0; i < ranges.size(); ++i) {
    const HostRange& range = *ranges[i];
    if (range.access == Access::read) continue;
    Status back = copy({addresses[i], staged[i].data(), range.bytes});
    if (status.ok()) status = std::move(back);
  }
  return status;
}

namespace {

bool is_word(const void* address) {
  return is_aligned(reinterpret_cast<uintptr_t>(address), sizeof(uint64_t));
}

}  // namespace

void copy_on_host(const CopyRows& rows) {
  if (rows.width == 0 || rows.height == 0) return;  // nothing, from nowhere: a barrier's message
  auto* to = static_cast<std::byte*>(rows.to);
  const auto* from = static_cast<const std::byte*>(rows.from);
  // A word may be one that a stream waits for (value_wait.cpp): it is written whole.
  if (rows.width == sizeof(uint64_t) && rows.height == 1 && is_word(to) && is_word(from)) {
    uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    __atomic_store_n(reinterpret_cast<uint64_t*>(to), word, __ATOMIC_RELEASE);
    return;
  }
  if (rows.width == rows.to_pitch && rows.width == rows.from_pitch) {
    std::memmove(to, from, rows.width * rows.height);
    return;
  }
  for (size_t row = 0; row < rows.height; ++row) {
    std::memmove(to + row * rows.to_pitch, from + row * rows.from_pitch, rows.width);
  }
}

}  // namespace anynpu::device
