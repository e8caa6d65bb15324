// SPDX-License-Identifier: Apache-2.0
#include "npc/host/host_memory.h"

#include <sys/mman.h>

#include <map>
#include <mutex>

#include "base/log.h"
#include "base/memory_probe.h"
#include "device/memory.h"

namespace anynpu::npc {

namespace {

// Bytes by start.
struct LockedMemory {
  std::mutex mutex;
  std::map<void*, size_t> allocated, registered;
};

LockedMemory& locked_memory() {
  static LockedMemory& all = *new LockedMemory;
  return all;
}

void lock_pages(void* address, size_t bytes) {
  if (mlock(address, bytes) == 0) return;
  ANYNPU_LOG(info, "{} bytes at {} could not be locked; copies work all the same", bytes,
             static_cast<const void*>(address));
}

}  // namespace

Result<void*> allocate_locked(size_t bytes) {
  ANYNPU_ASSIGN(void* address, device::allocate_host(bytes));
  lock_pages(address, bytes);
  auto& all = locked_memory();
  std::lock_guard lock(all.mutex);
  all.allocated[address] = bytes;
  return address;
}

Status free_locked(void* address) {
  auto& all = locked_memory();
  std::lock_guard lock(all.mutex);
  if (const auto found = all.allocated.find(address); found != all.allocated.end()) {
    munlock(address, found->second);
    all.allocated.erase(found);
  }
  return device::free_host(address);
}

Status register_host(void* address, size_t bytes) {
  if (!address || bytes == 0 || !probe_readable(address, bytes)) {
    return fail(Code::invalid_argument,
                "{} bytes at {} are not memory of this process; pass an address and its size",
                bytes, static_cast<const void*>(address));
  }
  auto& all = locked_memory();
  std::lock_guard lock(all.mutex);
  if (!all.registered.emplace(address, bytes).second) {
    return fail(Code::already_exists, "the memory at {} is registered already; unregister it first",
                static_cast<const void*>(address));
  }
  lock_pages(address, bytes);
  return {};
}

Status unregister_host(void* address) {
  auto& all = locked_memory();
  std::lock_guard lock(all.mutex);
  const auto found = all.registered.find(address);
  if (found == all.registered.end()) {
    return fail(Code::invalid_argument, "no registration starts at {}; pass what was registered",
                static_cast<const void*>(address));
  }
  munlock(address, found->second);
  all.registered.erase(found);
  return {};
}

}  // namespace anynpu::npc
