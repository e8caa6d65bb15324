// SPDX-License-Identifier: Apache-2.0
// The frame of every C entry point: fork check, init check, trace zone, conversion of the outcome;
// no exception leaves it. A few nanoseconds when all is well.
//
//   aclError aclrtSetDevice(int32_t id) {
//     return enter(__func__, [&]() -> Status { return device::set_current(id); });
//   }
//   size_t aclGetDataBufferSizeV2(const aclDataBuffer* buffer) {
//     return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
//       ANYNPU_ASSIGN(auto pin, resolve<DataBuffer>(to_handle(buffer)));
//       return pin->size;
//     });
//   }
#pragma once

#include <new>
#include <optional>
#include <type_traits>

#include "api/acl/errors.h"
#include "api/acl/lifecycle.h"
#include "base/fork_guard.h"
#include "base/handle_table.h"
#include "base/result.h"
#include "trace/trace.h"

namespace anynpu::acl {

// When a function may be called.
enum class When {
  after_init,   // the rule
  before_init,  // also before aclInit and after aclFinalize, but not in a forked child
  always,       // also in a forked child: touches no shared state that a fork could break
};

namespace detail {

// Why the call may not go on. Only called when something is wrong.
Status explain_refusal();
// What a call that may_enter() stopped returns: the refusal, or the fault that ANYNPU_FAULT asks
// for. Ok: it goes on.
Failure stopped(const char* function, When when);

template <When when>
inline bool may_enter() {
  if constexpr (when == When::always) return true;
  if (calls_are_gated()) [[unlikely]]
    return false;
  return when == When::before_init || initialised();
}

// Turns whatever the body throws into a failure; only third-party code throws.
template <typename Body>
Failure run_body(Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {ACL_ERROR_BAD_ALLOC,
            Status(Code::out_of_memory, "the host has no memory left for this call")};
  } catch (...) {
    return {ACL_ERROR_INTERNAL_ERROR,
            Status(Code::internal, "an exception reached the C interface")};
  }
}

// Out of the way of the untraced path. One instance per entry point, so the name is its own.
template <typename Body>
[[gnu::noinline]] Failure run_traced(const char* function, Body& body) noexcept {
  static trace::StaticName name(function);
  const uint32_t correlation = trace::next_correlation();
  trace::TraceZone zone(trace::Category::api, name, correlation);
  trace::CorrelationScope scope(correlation);
  Failure failure = run_body(body);
  if (!failure.ok()) {
    const aclError code = failure.code != ACL_SUCCESS
                              ? failure.code
                              : to_acl_error(failure.status.code(), family_of(function));
    zone.set_arg(static_cast<uint64_t>(code));
  }
  return failure;
}

template <When when, typename Body>
inline Failure run(const char* function, Body& body) noexcept {
  if (!may_enter<when>()) [[unlikely]] {
    if (Failure failure = stopped(function, when); !failure.ok()) return failure;
  }
  if (trace::enabled(trace::Category::api)) [[unlikely]]
    return run_traced(function, body);
  return run_body(body);
}

}  // namespace detail

// For functions that return aclError; the body returns Status or Failure.
template <When when = When::after_init, typename Body>
inline aclError enter(const char* function, Body&& body) noexcept {
  const Failure failure = detail::run<when>(function, body);
  if (failure.ok()) [[likely]]
    return ACL_SUCCESS;
  return report(function, failure);
}

// For functions that return a value; the body returns Result<T>. `failed` is returned on failure,
// and the sentence is kept all the same.
template <When when = When::after_init, typename T, typename Body>
inline T enter_value(const char* function, T failed, Body&& body) noexcept {
  T value = failed;
  auto wrapped = [&]() -> Failure {
    auto result = body();
    if (!result.ok()) return result.status();
    value = std::move(result).value();
    return {};
  };
  const Failure failure = detail::run<when>(function, wrapped);
  if (failure.ok()) [[likely]]
    return value;
  report(function, failure);
  return failed;
}

// Handles travel through the C interface as pointers to incomplete types.
inline Handle to_handle(const void* pointer) { return reinterpret_cast<Handle>(pointer); }
template <typename Pointer>
inline Pointer from_handle(Handle handle) {
  static_assert(std::is_pointer_v<Pointer>);
  return reinterpret_cast<Pointer>(handle);
}

// A new handle for `object`, as the C interface shows it.
template <typename Pointer, typename T>
Result<Pointer> insert_object(std::shared_ptr<T> object) {
  const Handle handle = HandleTable::instance().insert(std::move(object));
  if (handle) return from_handle<Pointer>(handle);
  return fail(Code::limit_exceeded, "no handle is free; destroy objects that are no longer used");
}

// Ends the life of a handle; the sentence says why when it is none.
template <typename T>
Status remove_object(const void* pointer) {
  if (HandleTable::instance().remove<T>(to_handle(pointer))) return {};
  return HandleTable::instance().explain(to_handle(pointer), HandleType<T>::tag);
}

// The failure of an output pointer that is null.
Status check_pointer(const void* pointer, const char* name);

}  // namespace anynpu::acl
