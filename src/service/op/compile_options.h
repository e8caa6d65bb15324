// SPDX-License-Identifier: Apache-2.0
// Operator compile options set by the program, by their numbers in the interface. Thread-safe;
// cleared at finalize.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"

namespace anynpu::service {

// Values are checked where the documents list them; "" leaves the choice to the compiler.
Status set_compile_option(int option, const char* value);
// Empty if it was not set and has no default (ACL_OP_JIT_COMPILE has one).
std::optional<std::string> compile_option(int option);
// Fails with not_found when it was not set.
Result<std::string> need_compile_option(int option);
// The same into `length` bytes, with a final zero.
Status copy_compile_option(int option, char* value, size_t length);

}  // namespace anynpu::service
