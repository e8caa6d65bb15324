// SPDX-License-Identifier: Apache-2.0
#include "service/memory/async_copy.h"

#include <atomic>

#include "device/range_map.h"
#include "device/runtime.h"

namespace anynpu::service {

namespace {

using device::RangeMap;

std::atomic<CopyRules> rules{CopyRules::runtime};

bool follows_guide() { return rules.load(std::memory_order_relaxed) == CopyRules::guide; }

// Memory of the program's own that no device was told of.
bool is_pageable(const void* address) {
  return !RangeMap::instance().find(reinterpret_cast<uintptr_t>(address));
}

Status check_kind(device::CopyKind kind) {
  if (kind != device::CopyKind::host_to_host || follows_guide()) return {};
  return fail(
      Code::unsupported_feature,
      "an asynchronous copy from host to host is not supported; use the synchronous memcpy");
}

// What was submitted last is done when this returns; a failure stays for the next synchronize.
Status wait_if_pageable(const void* to, const void* from, device::Stream& stream) {
  if (follows_guide() || (!is_pageable(from) && !is_pageable(to))) return {};
  return stream.wait_for(stream.submitted(), Deadline::never());
}

}  // namespace

void set_copy_rules(CopyRules wanted) { rules.store(wanted, std::memory_order_relaxed); }

Status copy_async(const device::Copy& request, Handle handle) {
  ANYNPU_TRY(check_kind(request.kind));
  ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_TRY(device::copy_async(request, *stream));
  return wait_if_pageable(request.to, request.from, *stream);
}

Status copy_2d_async(const device::Copy2d& request, Handle handle) {
  ANYNPU_TRY(check_kind(request.kind));
  ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_TRY(device::copy_2d_async(request, *stream));
  return wait_if_pageable(request.to, request.from, *stream);
}

}  // namespace anynpu::service
