// SPDX-License-Identifier: Apache-2.0
#include "service/memory/async_copy.h"

#include <algorithm>
#include <atomic>

#include "device/range_map.h"
#include "device/runtime.h"

namespace anynpu::service {

namespace {

using device::CopyKind;
using device::RangeMap;

std::atomic<CopyRules> rules{CopyRules::runtime};

bool follows_guide() { return rules.load(std::memory_order_relaxed) == CopyRules::guide; }

// Memory of the program that is not registered with any device.
bool is_pageable(const void* address) {
  return !RangeMap::instance().find(reinterpret_cast<uintptr_t>(address));
}

Status check_kind(CopyKind kind) {
  if (kind != CopyKind::host_to_host || follows_guide()) return {};
  return fail(
      Code::unsupported_feature,
      "an asynchronous copy from host to host is not supported; use the synchronous memcpy");
}

// What was submitted last is done when this returns; a failure stays for the next synchronize.
Status wait_for_last(device::Stream& stream) {
  return stream.wait_for(stream.submitted(), Deadline::never());
}

// Whether a copy of this kind uses pageable memory of the host.
bool uses_pageable(CopyKind kind, const void* to, const void* from) {
  switch (kind) {
    case CopyKind::host_to_device:
    case CopyKind::host_to_buffer_to_device:
      return is_pageable(from);
    case CopyKind::device_to_host:
      return is_pageable(to);
    case CopyKind::by_address:
      return is_pageable(from) || is_pageable(to);
    default:
      return false;
  }
}

constexpr size_t kMostRowBytes = 5'000'000, kMostRows = 5'242'880;

Status check_rows_kind(CopyKind kind) {
  if (follows_guide() || kind == CopyKind::host_to_device || kind == CopyKind::device_to_host ||
      kind == CopyKind::by_address) {
    return {};
  }
  return fail(Code::unsupported_shape,
              "the copy kind is {}; rows are copied from the host to a device (1) or back (2)",
              kind);
}

Status check_rows(const device::Copy2d& request) {
  ANYNPU_TRY(check_rows_kind(request.kind));
  if (follows_guide() || (request.width <= kMostRowBytes && request.height <= kMostRows)) return {};
  return fail(Code::unsupported_shape,
              "width is {}, height {}; expected at most {} and {}: copy in several calls",
              request.width, request.height, kMostRowBytes, kMostRows);
}

}  // namespace

void set_copy_rules(CopyRules wanted) { rules.store(wanted, std::memory_order_relaxed); }

Status copy_async(const device::Copy& request, Handle handle) {
  ANYNPU_TRY(check_kind(request.kind));
  ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_TRY(device::copy_async(request, *stream));
  if (follows_guide() || !uses_pageable(request.kind, request.to, request.from)) return {};
  return wait_for_last(*stream);
}

Status copy_2d(const device::Copy2d& request) {
  ANYNPU_TRY(check_rows_kind(request.kind));
  return device::copy_2d(request);
}

Status copy_2d_async(const device::Copy2d& request, Handle handle) {
  ANYNPU_TRY(check_rows(request));
  ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_TRY(device::copy_2d_async(request, *stream));
  if (follows_guide() || !uses_pageable(request.kind, request.to, request.from)) return {};
  return wait_for_last(*stream);
}

Status copy_batch_async(std::span<const device::BatchCopy> copies, size_t* failed, Handle handle) {
  ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_TRY(device::copy_batch_async(copies, failed, *stream));
  const bool pageable = std::any_of(copies.begin(), copies.end(), [](const auto& copy) {
    return is_pageable(copy.to_place.on_device ? copy.from : copy.to);
  });
  return pageable && !follows_guide() ? wait_for_last(*stream) : Status();
}

}  // namespace anynpu::service
