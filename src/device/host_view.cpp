// SPDX-License-Identifier: Apache-2.0
#include "device/host_view.h"

#include <cstring>
#include <memory>
#include <vector>

namespace anynpu::device {

namespace {

// The memory that `address` lies in, when the host cannot read it; null otherwise. Not by the range
// map: a program may have freed a block that queued work still uses.
std::shared_ptr<DeviceMemory> unreadable_memory(const void* address) {
  auto memory = DeviceMemory::find(reinterpret_cast<uintptr_t>(address));
  return memory && !memory->host_readable() ? memory : nullptr;
}

// Ranges of one memory.
struct Part {
  std::shared_ptr<DeviceMemory> memory;
  std::vector<HostRange*> ranges;
};

std::vector<Part> split_by_memory(std::span<HostRange> ranges) {
  std::vector<Part> parts;
  for (HostRange& range : ranges) {
    if (range.bytes == 0) continue;
    auto memory = unreadable_memory(range.address);
    if (!memory) continue;
    Part* part = nullptr;
    for (Part& known : parts) {
      if (known.memory == memory) part = &known;
    }
    if (!part) part = &parts.emplace_back(Part{std::move(memory), {}});
    part->ranges.push_back(&range);
  }
  return parts;
}

Status with_parts(std::span<const Part> parts, const HostWork& work) {
  if (parts.empty()) return work();
  const auto rest = [&] { return with_parts(parts.subspan(1), work); };
  return parts[0].memory->with_host_view(parts[0].ranges, HostWork(rest));
}

// Between two memories that the host cannot read: through the host.
Status copy_between(DeviceMemory& to, DeviceMemory& from, const CopyRows& rows) {
  std::vector<std::byte> row(rows.width);
  for (size_t i = 0; i < rows.height; ++i) {
    auto* const target = static_cast<std::byte*>(rows.to) + i * rows.to_pitch;
    const auto* const source = static_cast<const std::byte*>(rows.from) + i * rows.from_pitch;
    ANYNPU_TRY(from.copy({row.data(), source, rows.width}));
    ANYNPU_TRY(to.copy({target, row.data(), rows.width}));
  }
  return {};
}

}  // namespace

Status with_translated_ranges(std::span<HostRange> ranges, const HostWork& work) {
  std::vector<void*> addresses;
  for (const HostRange& range : ranges) addresses.push_back(range.address);
  const std::vector<Part> parts = split_by_memory(ranges);
  Status status = with_parts(parts, work);
  for (size_t i = 0; i < ranges.size(); ++i) ranges[i].address = addresses[i];
  return status;
}

// No bytes need no address.
Status copy_rows(const CopyRows& rows) {
  if (rows.width == 0 || rows.height == 0) return {};
  if (host_reads_all_memory()) [[likely]] {
    copy_on_host(rows);
    return {};
  }
  const auto to = unreadable_memory(rows.to), from = unreadable_memory(rows.from);
  if (to && from && to != from) return copy_between(*to, *from, rows);
  if (to || from) return (to ? to : from)->copy(rows);
  copy_on_host(rows);
  return {};
}

Status fill_bytes(void* address, int value, size_t bytes) {
  if (bytes == 0) return {};
  if (!host_reads_all_memory()) [[unlikely]] {
    if (const auto memory = unreadable_memory(address)) return memory->fill(address, value, bytes);
  }
  std::memset(address, value, bytes);
  return {};
}

}  // namespace anynpu::device
