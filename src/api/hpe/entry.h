// SPDX-License-Identifier: Apache-2.0
// The frame of every HPE entry point: fork check, trace zone, conversion of the outcome; no
// exception leaves it. ANYNPU_HPE_FAULT makes a function fail as if hardware had.
//
//   stcError_t stcSetDevice(int device) {
//     return enter(__func__, [&] { return npc::set_current_device(device); });
//   }
#pragma once

#include <new>

#include "api/hpe/errors.h"
#include "base/fork_guard.h"
#include "base/handle_table.h"
#include "trace/trace.h"

namespace anynpu::hpe {

namespace detail {

// The failure that ANYNPU_HPE_FAULT asks of `function`; ok for most.
Failure injected_fault(const char* function);
bool faults_wanted();
Status forked();

template <typename Body>
Failure run_body(Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {stcErrorOutOfHostMemory,
            Status(Code::out_of_memory, "the host has no memory left for this call")};
  } catch (...) {
    return Status(Code::internal, "an exception reached the C interface");
  }
}

// One instance per entry point, so the name is its own.
template <typename Body>
[[gnu::noinline]] Failure run_traced(const char* function, Body& body) noexcept {
  static trace::StaticName name(function);
  const uint32_t correlation = trace::next_correlation();
  trace::TraceZone zone(trace::Category::api, name, correlation);
  trace::CorrelationScope scope(correlation);
  Failure failure = run_body(body);
  if (!failure.ok()) zone.set_arg(to_stc_error(failure.status.code()));
  return failure;
}

template <typename Body>
inline Failure run(const char* function, Body& body) noexcept {
  if (in_forked_child()) [[unlikely]]
    return forked();
  if (faults_wanted()) [[unlikely]] {
    if (Failure fault = injected_fault(function); !fault.ok()) return fault;
  }
  if (trace::enabled(trace::Category::api)) [[unlikely]]
    return run_traced(function, body);
  return run_body(body);
}

}  // namespace detail

// The body returns Status or Failure.
template <typename Body>
inline stcError_t enter(const char* function, Body&& body) noexcept {
  const Failure failure = detail::run(function, body);
  if (failure.ok()) [[likely]]
    return stcSuccess;
  return report(function, failure);
}

// The failure of an output pointer that is null.
Status check_pointer(const void* pointer, const char* name);

// Handles travel through the C interface as pointers to incomplete types.
inline Handle to_handle(const void* pointer) { return reinterpret_cast<Handle>(pointer); }

template <typename Pointer, typename T>
Failure insert_object(Pointer* out, std::shared_ptr<T> object) {
  const Handle handle = HandleTable::instance().insert(std::move(object));
  if (!handle) {
    return {stcErrorOutOfHostMemory, fail(Code::limit_exceeded, "no handle is free; destroy some")};
  }
  *out = reinterpret_cast<Pointer>(handle);
  return {};
}

}  // namespace anynpu::hpe
