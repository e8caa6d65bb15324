// SPDX-License-Identifier: Apache-2.0
#include "api/acl/entry.h"

#include "base/env.h"
#include "base/fault_injection.h"

namespace anynpu::acl {

namespace detail {

Status explain_refusal() {
  if (in_forked_child()) {
    return fail(
        Code::forked_process,
        "this process was forked from one that had used AnyNPU, whose threads and devices do "
        "not exist here; expected calls in the parent only, or a fork before the first call");
  }
  if (life() == Life::finalised) {
    return fail(
        Code::not_initialized,
        "the call came after aclFinalize; expected an initialised library: move aclFinalize to "
        "the end, or call aclInit again");
  }
  return fail(Code::not_initialized,
              "the call came before aclInit; expected an initialised library: call aclInit first");
}

Failure stopped(const char* function, When when) {
  if (in_forked_child()) return explain_refusal();
  if (when == When::after_init && !initialised()) return explain_refusal();
  const auto code = call_fault(function);
  if (!code) return {};
  return {static_cast<aclError>(*code),
          fail(Code::internal, "{} fails because ANYNPU_FAULT is '{}'; unset it", function,
               env::text(env::Name::fault))};
}

namespace {
// Asked once, when the library is loaded: calls that nobody gates test nothing more.
const bool gated = [] {
  const bool wanted = !faults().calls.empty();
  if (wanted) gate_calls_for_faults();
  return wanted;
}();
}  // namespace

}  // namespace detail

Status check_pointer(const void* pointer, const char* name) {
  if (pointer) return {};
  return fail(Code::invalid_argument, "{} is null; expected the address of a variable or text",
              name);
}

}  // namespace anynpu::acl
