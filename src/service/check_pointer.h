// SPDX-License-Identifier: Apache-2.0
// The failure of a pointer argument that is null.
#pragma once

#include "base/status.h"

namespace anynpu::service {

inline Status check_pointer(const void* pointer, const char* name) {
  if (pointer) [[likely]]
    return {};
  return fail(Code::invalid_argument, "{} is null; expected the address of a variable or text",
              name);
}

}  // namespace anynpu::service
