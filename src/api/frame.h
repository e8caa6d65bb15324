// SPDX-License-Identifier: Apache-2.0
// The frame of every C entry point, the same for all front doors: fork check, init check, injected
// faults, trace zone, conversion of the outcome; no exception leaves it. It costs a few nanoseconds
// on success. Each front door has an entry.h with its Traits:
//
//   struct Traits {
//     using Number = aclError;                    what entry points return; 0 is success
//     static constexpr FaultSource kFaults;       whose faults are injected
//     static bool initialised();                  whether calls are allowed now ...
//     static Status start(const char* function);  ... and, when they are not, why; ok: they are
//     static Number fault_number(std::string_view code);  0: unknown
//     static Status hold(const char* function);   optional: waits until the call may continue
//     static Number number_of(const char* function, const Failure<Number>&);
//     static Number report(const char* function, const Failure<Number>&);  stores and logs it
//   };
#pragma once

#include <new>
#include <utility>

#include "api/failure.h"
#include "base/fault_injection.h"
#include "base/fork_guard.h"
#include "base/result.h"
#include "trace/trace.h"

namespace anynpu::api {

// When a function may be called.
enum class When {
  after_init,   // the rule; Traits::start() says which functions need no initialising
  before_init,  // also before the library is initialised, but not in a forked child
  always,       // also in a forked child: touches no shared state that a fork could break
};

template <typename Traits>
class Frame {
 public:
  using Number = typename Traits::Number;
  using Failure = api::Failure<Number>;

  // For functions that return a number; the body returns Status or Failure.
  template <When when, typename Body>
  static Number enter(const char* function, Body& body) noexcept {
    const Failure failure = run<when>(function, body);
    if (failure.ok()) [[likely]]
      return Number{};
    return Traits::report(function, failure);
  }

  // For functions that return a value; the body returns Result<T>. `failed` is returned on failure;
  // the message is kept as well.
  template <When when, typename T, typename Body>
  static T enter_value(const char* function, T failed, Body& body) noexcept {
    T value = failed;
    auto wrapped = [&]() -> Failure {
      auto result = body();
      if (!result.ok()) return result.status();
      value = std::move(result).value();
      return {};
    };
    const Failure failure = run<when>(function, wrapped);
    if (failure.ok()) [[likely]]
      return value;
    Traits::report(function, failure);
    return failed;
  }

 private:
  template <When when>
  static bool may_enter() {
    if constexpr (when == When::always) return true;
    if (calls_are_gated()) [[unlikely]]
      return false;
    return when == When::before_init || Traits::initialised();
  }

  // The result of a call that may_enter() stopped. Ok: it continues.
  [[gnu::noinline]] static Failure stopped(const char* function, When when) {
    if (in_forked_child()) return explain_fork();
    if (when == When::after_init && !Traits::initialised()) {
      if (Status refused = Traits::start(function); !refused.ok()) return refused;
    }
    if constexpr (requires { Traits::hold(function); }) {
      if (Status held = Traits::hold(function); !held.ok()) return held;
    }
    const auto code = call_fault(Traits::kFaults, function);
    const Number number = code ? Traits::fault_number(*code) : Number{};
    if (number == Number{}) return {};
    return {number, explain_fault(Traits::kFaults, function)};
  }

  // Turns whatever the body throws into a failure; only third-party code throws.
  template <typename Body>
  static Failure run_body(Body& body) noexcept {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return Status(Code::host_out_of_memory, "the host has no memory left for this call");
    } catch (...) {
      return Status(Code::unexpected_exception, "an exception reached the C interface");
    }
  }

  // Out of the way of the untraced path. One instance per entry point, so the name is its own;
  // entry points that share a body (those of aclnn operators) look theirs up.
  template <typename Body>
  [[gnu::noinline]] static Failure run_traced(const char* function, Body& body) noexcept {
    static const char* const first = function;
    static trace::StaticName name(function);
    const uint32_t correlation = trace::next_correlation();
    const trace::NameId id = function == first ? name.id() : trace::intern(function);
    trace::TraceZone zone(trace::Category::api, id, correlation);
    trace::CorrelationScope scope(correlation);
    Failure failure = run_body(body);
    if (!failure.ok()) zone.set_arg(static_cast<uint64_t>(Traits::number_of(function, failure)));
    return failure;
  }

  template <When when, typename Body>
  static Failure run(const char* function, Body& body) noexcept {
    if (!may_enter<when>()) [[unlikely]] {
      if (Failure failure = stopped(function, when); !failure.ok()) return failure;
    }
    if (trace::enabled(trace::Category::api)) [[unlikely]]
      return run_traced(function, body);
    return run_body(body);
  }
};

}  // namespace anynpu::api
