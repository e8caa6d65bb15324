// SPDX-License-Identifier: Apache-2.0
// Errors of this extension: a code and a message. Python sees a RuntimeError whose text is
// "[<code>][<text of the code>] <message>", the form that scripts match.
#pragma once

#include <string>
#include <utility>

#include "acl/acl_base.h"

namespace anynpu::aclruntime {

struct [[nodiscard]] Failure {
  int code = 0;
  std::string message;
  explicit operator bool() const { return code != 0; }
};

// Codes of the interface itself; every other number is one of AscendCL.
inline constexpr int kGeneral = -1;
inline constexpr int kInvalidParameter = 1;
inline constexpr int kRuntime = 3;
inline constexpr int kBadArgument = 1004;
inline constexpr int kNoOutputSize = 3011;

const char* text_of(int code);

// The failure of an AscendCL call: `what` was tried, and the library's own message.
Failure acl_failure(aclError code, const std::string& what);
// The same under a code of the interface.
Failure acl_failure_as(int code, aclError error, const std::string& what);

}  // namespace anynpu::aclruntime
