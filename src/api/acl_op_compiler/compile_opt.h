// SPDX-License-Identifier: Apache-2.0
// Options that a program set with aclSetCompileopt, for whoever compiles operators. Thread-safe;
// forgotten at aclFinalize.
#pragma once

#include <optional>
#include <string>

namespace anynpu::acl {

// The value of an aclCompileOpt; nothing when it was not set.
std::optional<std::string> compile_option(int opt);

}  // namespace anynpu::acl
