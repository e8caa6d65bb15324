// SPDX-License-Identifier: Apache-2.0
#include "service/memory/memory_query.h"

#include <algorithm>

#include "device/memory.h"
#include "device/range_map.h"
#include "device/runtime.h"

namespace anynpu::service {

namespace {

using device::Allocation;
using device::MemoryKind;
using device::RangeMap;
using device::Runtime;

std::shared_ptr<Allocation> allocation_at(const void* address) {
  return RangeMap::instance().find(reinterpret_cast<uintptr_t>(address));
}

uint32_t types_of(const Allocation* allocation) {
  if (!allocation) return 0;
  if (allocation->kind == MemoryKind::reserved) return kReservedMemory;
  return allocation->device_id >= 0 ? kDeviceMemory | kMediaMemory : 0;
}

// Frees when the work of the device has ended, well or not; a wait that was interrupted frees
// nothing. What failed is returned.
template <typename Free>
Status after_work(Free free) {
  const Status work = Runtime::instance().synchronize_device(Deadline::never());
  if (work.code() == Code::cancelled) return work;
  ANYNPU_TRY(free());
  return work;
}

}  // namespace

Result<MemoryBlock> memory_block(const void* address) {
  const auto found = allocation_at(address);
  if (found && found->kind != MemoryKind::reserved && found->kind != MemoryKind::registered) {
    return MemoryBlock{reinterpret_cast<void*>(found->base), found->bytes};
  }
  return fail(Code::invalid_address,
              "{} lies in no allocation of a device or of the host, and in no mapping", address);
}

Result<std::vector<MemoryUser>> memory_users(int32_t id) {
  ANYNPU_ASSIGN(const auto device, Runtime::instance().device(id));
  ANYNPU_ASSIGN(const auto memory, device->memory());
  // Allocations of the program are known by address; the rest is kept for it: weights, workspaces.
  uint64_t own = 0;
  for (const auto& each : RangeMap::instance().all()) {
    if (each->device_id == id && each->kind == MemoryKind::device) own += each->bytes;
  }
  const uint64_t used = memory->used();
  own = std::min(own, used);
  std::vector<MemoryUser> users = {{"APP", own, std::max<uint64_t>(own, memory->peak())},
                                   {"RUNTIME", used - own, used - own}};
  if (users[1].bytes > users[0].bytes) std::swap(users[0], users[1]);
  return users;
}

Result<bool> are_of_types(std::span<void* const> addresses, uint32_t types) {
  constexpr uint32_t kKnown = kDeviceMemory | kMediaMemory | kReservedMemory;
  if (types == 0 || (types & ~kKnown)) {
    return fail(Code::invalid_argument,
                "memType is {:#x}; expected a combination of 0x2 (device), 0x8 (media) and 0x10 "
                "(reserved)",
                types);
  }
  return std::all_of(addresses.begin(), addresses.end(),
                     [&](void* address) { return types_of(allocation_at(address).get()) & types; });
}

Result<bool> reaches_host_memory(int32_t device, int engine) {
  ANYNPU_TRY(Runtime::instance().device(device).status());
  // Scheduler, AI CPU, cube, vector, PCIe copies, RDMA, copies inside, media, unified bus copies,
  // collective unit. Networks and buses between cards are not there.
  constexpr bool kReaches[] = {true, true, true, true, true, false, true, true, false, false};
  if (engine >= 0 && engine < static_cast<int>(std::size(kReaches))) return kReaches[engine];
  return fail(Code::invalid_argument, "hacType is {}; expected 0 to {}", engine,
              std::size(kReaches) - 1);
}

Status free_device_after_work(void* address) {
  return after_work([&] { return device::free_device(address); });
}

Status free_host_after_work(void* address) {
  if (!Runtime::instance().current().ok()) return device::free_host(address);
  return after_work([&] { return device::free_host(address); });
}

}  // namespace anynpu::service
