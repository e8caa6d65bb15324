// SPDX-License-Identifier: Apache-2.0
#include "api/hpe/entry.h"

#include "base/env.h"

namespace anynpu::hpe {

namespace detail {

bool faults_wanted() {
  static const bool wanted = !env::text(env::Name::hpe_fault).empty();
  return wanted;
}

Failure injected_fault(const char* function) {
  const std::string wanted = env::text(env::Name::hpe_fault);
  const size_t equals = wanted.find('=');
  if (equals == std::string::npos || wanted.substr(0, equals) != function) return {};
  const stcError_t error = error_named(std::string_view(wanted).substr(equals + 1));
  if (error == stcSuccess) return {};
  return {error, fail(Code::internal, "{} fails because ANYNPU_HPE_FAULT is '{}'; unset it",
                      function, wanted)};
}

Status forked() {
  return fail(Code::forked_process,
              "this process was forked from one that had used AnyNPU, whose threads and devices do "
              "not exist here; expected calls in the parent only, or a fork before the first call");
}

}  // namespace detail

Status check_pointer(const void* pointer, const char* name) {
  if (pointer) return {};
  return fail(Code::invalid_argument, "{} is null; expected the address of a variable or text",
              name);
}

}  // namespace anynpu::hpe
