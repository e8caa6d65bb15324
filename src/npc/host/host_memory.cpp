// SPDX-License-Identifier: Apache-2.0
#include "npc/host/host_memory.h"

#include <sys/mman.h>

#include <map>
#include <mutex>

#include "base/log.h"
#include "base/memory_probe.h"

namespace anynpu::npc {

namespace {

struct Registrations {
  std::mutex mutex;
  std::map<void*, size_t> bytes;
};

Registrations& registrations() {
  static Registrations& all = *new Registrations;
  return all;
}

}  // namespace

Status register_host(void* address, size_t bytes) {
  if (!address || bytes == 0 || !probe_readable(address, bytes)) {
    return fail(Code::invalid_argument,
                "{} bytes at {} are not memory of this process; pass an address and its size",
                bytes, static_cast<const void*>(address));
  }
  auto& all = registrations();
  std::lock_guard lock(all.mutex);
  if (!all.bytes.emplace(address, bytes).second) {
    return fail(Code::already_exists, "the memory at {} is registered already; unregister it first",
                static_cast<const void*>(address));
  }
  if (mlock(address, bytes) != 0) {
    ANYNPU_LOG(info, "{} bytes at {} could not be locked; copies work all the same", bytes,
               static_cast<const void*>(address));
  }
  return {};
}

Status unregister_host(void* address) {
  auto& all = registrations();
  std::lock_guard lock(all.mutex);
  const auto found = all.bytes.find(address);
  if (found == all.bytes.end()) {
    return fail(Code::invalid_argument, "no registration starts at {}; pass what was registered",
                static_cast<const void*>(address));
  }
  munlock(address, found->second);
  all.bytes.erase(found);
  return {};
}

}  // namespace anynpu::npc
