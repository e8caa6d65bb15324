// SPDX-License-Identifier: Apache-2.0
#include "device/host_memory.h"

#include "base/fork_guard.h"
#include "device/range_map.h"

namespace anynpu::device {

Result<void*> register_host(void* address, size_t bytes, Access access) {
  if (bytes == 0) return fail(Code::invalid_argument, "size is 0; register at least one byte");
  const auto start = reinterpret_cast<uintptr_t>(address);
  if (const auto known = RangeMap::instance().find(start)) {
    return fail(Code::already_registered,
                "ptr = {} is {} already; unregister it first, or register other memory", address,
                name_of(known->kind));
  }
  ANYNPU_TRY(check_range(address, bytes, access, "ptr").status());
  mark_runtime_used();
  auto allocation = std::make_shared<Allocation>();
  allocation->base = start;
  allocation->bytes = bytes;
  allocation->kind = MemoryKind::registered;
  allocation->device_base = start;
  if (RangeMap::instance().insert(std::move(allocation))) return address;
  return fail(Code::already_registered,
              "a part of the {} bytes at {} is registered or allocated by this library already; "
              "unregister it "
              "first",
              bytes, address);
}

Status unregister_host(void* address) {
  if (RangeMap::instance().remove(reinterpret_cast<uintptr_t>(address), MemoryKind::registered))
    return {};
  return fail(Code::not_registered,
              "ptr = {} is not the start of registered host memory; pass what host_register got",
              address);
}

Result<void*> device_pointer(void* host) {
  const auto start = reinterpret_cast<uintptr_t>(host);
  const auto known = RangeMap::instance().find(start);
  if (known && known->kind == MemoryKind::registered) {
    return reinterpret_cast<void*>(known->device_base + (start - known->base));
  }
  if (known && known->kind == MemoryKind::host) return host;
  return fail(Code::not_registered, "ptr_host = {} is {}; register it with host_register first",
              host, known ? name_of(known->kind) : "not registered");
}

PointerInfo describe_pointer(const void* address) {
  constexpr size_t kPageSize = 4096;
  const auto known = RangeMap::instance().find(reinterpret_cast<uintptr_t>(address));
  if (!known || known->kind == MemoryKind::reserved) return {};
  if (known->device_id >= 0) return {PointerInfo::Owner::device, known->device_id, kPageSize};
  return {PointerInfo::Owner::host, 0, kPageSize};
}

}  // namespace anynpu::device
