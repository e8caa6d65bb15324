// SPDX-License-Identifier: Apache-2.0
#include "device/memory.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <vector>

#include "base/align.h"
#include "base/fork_guard.h"
#include "base/memory_probe.h"
#include "device/backend.h"
#include "device/cpu/cpu_memory.h"
#include "device/host_view.h"
#include "device/process_page.h"
#include "trace/trace.h"

namespace anynpu::device {

namespace {

constexpr size_t kBlockPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kOwnPages = size_t{1} << 20;        // blocks from this size on
constexpr size_t kAskTheMachine = size_t{64} << 20;  // from this size on, look at what is available
constexpr size_t kHostAddresses = size_t{1} << 40;
constexpr size_t kFewHostAddresses = size_t{16} << 30;

// Host memory that the machine could still give; SIZE_MAX when it does not say.
size_t machine_available() {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (!file) return SIZE_MAX;
  char line[128];
  unsigned long long kib = 0;
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file)) {
    found = std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
  }
  std::fclose(file);
  return found ? static_cast<size_t>(kib) << 10 : SIZE_MAX;
}

Status check_machine(size_t bytes) {
  if (bytes < kAskTheMachine) return {};
  const size_t available = machine_available();
  if (bytes <= available) return {};
  return fail(Code::out_of_memory, "{} bytes were asked for, but the machine has {} left", bytes,
              available);
}

// Addresses for pinned host memory, shared by the process; lower where addresses are limited.
Result<std::shared_ptr<DeviceMemory>> host_memory() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  static auto* memory = new std::shared_ptr<DeviceMemory>;
  if (!*memory) {
    auto large = CpuMemory::reserve(kHostAddresses);
    if (!large.ok()) large = CpuMemory::reserve(kFewHostAddresses);
    if (!large.ok()) return large.status();
    *memory = *large;
  }
  return *memory;
}

// The trace record of a block that was allocated or freed.
struct TracedBlock {
  uintptr_t base;
  size_t bytes;
  int32_t device_id;
  std::shared_ptr<DeviceMemory> memory;
  explicit TracedBlock(const Allocation& block)
      : base(block.base), bytes(block.bytes), device_id(block.device_id), memory(block.memory) {}

  void record(trace::StaticName& name, uint64_t begin) const {
    trace::slice(trace::Category::memory, name.id(), begin, ticks(), trace::current_correlation(),
                 bytes, {base, memory ? memory->used() : 0, static_cast<uint32_t>(device_id), 0});
  }
};

uint64_t trace_begin() { return trace::enabled(trace::Category::memory) ? ticks() : 0; }

constinit trace::StaticName kAllocate("allocate");
constinit trace::StaticName kFree("free");

// A block that no program knows yet.
Result<std::shared_ptr<Allocation>> cut_block(const std::shared_ptr<DeviceMemory>& memory,
                                              size_t bytes, size_t alignment, MemoryKind kind,
                                              int32_t device_id) {
  const uint64_t begin = trace_begin();
  const uintptr_t base = memory->take(bytes, alignment);
  if (!base) {
    return fail(Code::out_of_memory,
                "{} bytes were asked for, but {} has {} of {} bytes free; free memory, or raise "
                "ANYNPU_DEVICE_MEMORY",
                bytes, device_id < 0 ? "the host" : format("device {}", device_id),
                memory->total() - memory->used(), memory->total());
  }
  auto allocation = std::make_shared<Allocation>();
  allocation->base = base;
  allocation->bytes = bytes;
  allocation->kind = kind;
  allocation->device_id = device_id;
  allocation->memory = memory;
  if (device_id >= 0) publish_memory(device_id, memory->used());
  if (begin) [[unlikely]]
    TracedBlock(*allocation).record(kAllocate, begin);
  return allocation;
}

// Drops the block, which goes when no queued work holds it any more.
void drop_block(std::shared_ptr<Allocation> block, uint64_t begin) {
  if (!begin) [[likely]]
    return;
  const TracedBlock told(*block);
  block.reset();  // first, so that the bytes in use are right
  told.record(kFree, begin);
}

Result<void*> take_block(const std::shared_ptr<DeviceMemory>& memory, size_t bytes,
                         size_t alignment, MemoryKind kind, int32_t device_id,
                         bool of_host = false) {
  ANYNPU_ASSIGN(auto allocation, cut_block(memory, bytes, alignment, kind, device_id));
  if ((of_host || kind == MemoryKind::host) && backend_pins()) [[unlikely]]
    allocation->backing = pin_host_memory(reinterpret_cast<void*>(allocation->base), bytes);
  const uintptr_t base = allocation->base;
  if (!RangeMap::instance().insert(std::move(allocation))) {
    return fail(Code::internal, "a new block at {:#x} overlaps a known range", base);
  }
  return reinterpret_cast<void*>(base);
}

// Takes the block out of the map; false when there is none of this kind.
bool free_block(void* address, MemoryKind kind) {
  const uint64_t begin = trace_begin();
  auto removed = RangeMap::instance().remove(reinterpret_cast<uintptr_t>(address), kind);
  if (!removed) return false;
  drop_block(std::move(removed), begin);
  return true;
}

// Why `address` cannot be freed as `kind`.
Status explain_free(void* address, MemoryKind kind, const char* right_call) {
  if (!address) {
    return fail(Code::invalid_address,
                "the address is 0 (null); pass what the allocation returned");
  }
  const auto found = RangeMap::instance().find(reinterpret_cast<uintptr_t>(address));
  if (!found) {
    return fail(Code::invalid_address,
                "{} is not allocated: it was freed already, or did not come from {}", address,
                right_call);
  }
  if (found->base != reinterpret_cast<uintptr_t>(address)) {
    return fail(Code::invalid_address,
                "{} lies {} bytes inside an allocation; free its start {:#x}", address,
                reinterpret_cast<uintptr_t>(address) - found->base, found->base);
  }
  return fail(Code::invalid_address,
              "{} is {}, not {}; free it with the call that matches its allocation", address,
              name_of(found->kind), name_of(kind));
}

}  // namespace

Result<void*> allocate_device(Device& device, size_t bytes, const AllocateOptions& options) {
  if (bytes == 0) {
    return fail(Code::invalid_argument, "the size is 0; ask for at least one byte");
  }
  if (bytes > device.memory_total()) {
    return fail(Code::out_of_memory,
                "{} bytes were asked for, but device {} has {} in all; ask for less, or raise "
                "ANYNPU_DEVICE_MEMORY",
                bytes, device.id(), device.memory_total());
  }
  ANYNPU_ASSIGN(auto memory, device.memory());
  if (memory->host_readable()) ANYNPU_TRY(check_machine(bytes));
  const size_t asked = round_up(bytes, 32) + options.tail;
  // As on a card, where such a block has pages of its own: programs that count wrong by a few
  // thousand bytes get away with it (`anynpu check` tells them).
  const size_t whole = bytes >= kOwnPages ? std::max(asked, round_up(bytes, kHugePage)) : asked;
  const bool huge = options.huge && asked >= kHugePage;
  auto block = take_block(memory, whole, huge ? kHugePage : options.alignment, MemoryKind::device,
                          device.id());
  // A full device still has room between huge pages.
  if (!block.ok() && (huge || whole != asked)) {
    block = take_block(memory, asked, options.alignment, MemoryKind::device, device.id());
  }
  ANYNPU_ASSIGN(void* address, std::move(block));
  if (huge) memory->prefer_huge_pages(reinterpret_cast<uintptr_t>(address), asked);
  return address;
}

Result<void*> allocate_shared(Device& device, size_t bytes, size_t alignment) {
  ANYNPU_ASSIGN(auto memory, device.memory());
  AllocateOptions options;
  options.alignment = alignment;
  if (memory->host_readable()) return allocate_device(device, bytes, options);
  if (bytes == 0) return fail(Code::invalid_argument, "the size is 0; ask for at least one byte");
  ANYNPU_TRY(check_machine(bytes));
  ANYNPU_ASSIGN(memory, host_memory());
  return take_block(memory, round_up(bytes + options.tail, kBlockPage),
                    std::max(alignment, kBlockPage), MemoryKind::device, device.id(), true);
}

Result<std::shared_ptr<void>> occupy_device(Device& device, size_t bytes) {
  if (bytes == 0) return std::shared_ptr<void>();
  ANYNPU_ASSIGN(auto memory, device.memory());
  // Nobody writes to the block, so it has no pages.
  ANYNPU_ASSIGN(auto block, cut_block(memory, bytes, kBlockPage, MemoryKind::device, device.id()));
  void* const address = reinterpret_cast<void*>(block->base);
  return std::shared_ptr<void>(address, [held = std::move(block)](void*) mutable {
    drop_block(std::move(held), trace_begin());
  });
}

Status free_device(void* address) {
  if (free_block(address, MemoryKind::device)) return {};
  return explain_free(address, MemoryKind::device, "a device allocation");
}

Result<void*> allocate_host(size_t bytes) {
  if (bytes == 0) {
    return fail(Code::invalid_argument, "the size is 0; ask for at least one byte");
  }
  mark_runtime_used();
  ANYNPU_TRY(check_machine(bytes));
  ANYNPU_ASSIGN(auto memory, host_memory());
  const size_t unit = backend_pins() ? kBlockPage : 64;  // whole pages are pinned
  return take_block(memory, round_up(bytes, unit), unit, MemoryKind::host, -1);
}

Status free_host(void* address) {
  if (free_block(address, MemoryKind::host)) return {};
  return explain_free(address, MemoryKind::host, "malloc_host");
}

namespace {

// Memory mapped behind each other is one range to programs: an owner that holds all of it. Null
// when it does not reach far enough.
std::shared_ptr<Allocation> joined(const std::shared_ptr<Allocation>& first, uintptr_t end) {
  auto parts = std::make_shared<std::vector<std::shared_ptr<Allocation>>>();
  for (auto part = first;
       part && part->kind == MemoryKind::mapped && part->device_id == first->device_id;
       part = RangeMap::instance().find(part->end())) {
    parts->push_back(part);
    if (part->end() >= end) return {parts, first.get()};
  }
  return nullptr;
}

}  // namespace

Result<Range> check_range(const void* address, size_t bytes, Access access, const char* what) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  if (!address) {
    return fail(Code::invalid_address, "{} is 0 (null); pass the address of {} bytes", what, bytes);
  }
  Range range{reinterpret_cast<uint8_t*>(start), bytes, RangeMap::instance().find(start)};
  // Registered memory belongs to the program, which may free it silently, so it is probed.
  if (range.owner && range.owner->kind == MemoryKind::registered) range.owner = nullptr;
  if (range.owner) {
    if (range.owner->covers(start, bytes) && range.owner->kind != MemoryKind::reserved)
      return range;
    if (range.owner->kind == MemoryKind::reserved) {
      return fail(
          Code::invalid_address,
          "{} = {} is a reserved address without memory behind it, or without access to it; map "
          "physical memory and give access first",
          what, address);
    }
    if (bytes <= SIZE_MAX - start) {
      if (auto all = joined(range.owner, start + bytes)) {
        range.owner = std::move(all);
        return range;
      }
    }
    return fail(
        Code::invalid_address,
        "{} = {} has {} bytes left in its allocation, {} are needed; allocate more or copy less",
        what, address, range.owner->end() - start, bytes);
  }
  const bool usable = access == Access::read ? probe_readable(address, bytes)
                                             : probe_writable(range.address, bytes);
  if (usable && !DeviceMemory::find(start)) return range;
  return fail(
      Code::invalid_address,
      "{} = {} is not allocated ({} bytes are needed there): it was freed, never allocated, or "
      "is too small",
      what, address, bytes);
}

Result<Range> check_host_range(const void* address, size_t bytes, Access access, const char* what) {
  ANYNPU_ASSIGN(Range range, check_range(address, bytes, access, what));
  if (range.host_readable()) return range;
  return fail(
      Code::unsupported_feature,
      "{} = {} is memory of device {}, which the host cannot read; pass memory of the host or, "
      "for media, of acldvppMalloc or hi_mpi_dvpp_malloc",
      what, address, range.owner->device_id);
}

Result<Range> readable_range(Range range) {
  if (range.host_readable() || range.bytes == 0) return range;
  ANYNPU_ASSIGN(auto memory, host_memory());
  ANYNPU_ASSIGN(auto block, cut_block(memory, range.bytes, 64, MemoryKind::host, -1));
  auto* const copy = reinterpret_cast<uint8_t*>(block->base);
  ANYNPU_TRY(copy_bytes(copy, range.address, range.bytes));
  return Range{copy, range.bytes, std::move(block)};
}

MemoryInfo memory_info(const Device& device) {
  return {device.memory_total() - std::min(device.memory_total(), device.memory_used()),
          device.memory_total()};
}

}  // namespace anynpu::device

// For the Python modules. Freed memory is still mapped, but not allocated.
extern "C" __attribute__((visibility("default"))) int anynpu_probe_readable(const void* address,
                                                                            size_t bytes) {
  return anynpu::device::check_host_range(address, bytes, anynpu::device::Access::read, "ptr").ok();
}
