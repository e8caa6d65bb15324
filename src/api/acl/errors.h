// SPDX-License-Identifier: Apache-2.0
// Maps Status to the vendor's error codes. One table (errors.cpp) has the aclError of each Code;
// the column is chosen by the family of the failed function, and a second table has the functions
// with special codes. The message is logged and kept for aclGetRecentErrMsg
// (base/recent_failure.h). Thread-safe; works in forked children.
#pragma once

#include <string>
#include <string_view>

#include "acl/acl_base.h"
#include "api/failure.h"
#include "base/recent_failure.h"
#include "base/status.h"

namespace anynpu::acl {

// Which column of the table: aclrt* and rt* runtime, aclmdl* and aclop* model, everything else
// base.
enum class Family { base, runtime, model };
Family family_of(std::string_view function);

using Failure = api::Failure<aclError>;

aclError to_acl_error(Code code, Family family);
// The error code of a failed call; some functions have special codes.
aclError to_acl_error(std::string_view function, Code code);
aclError number_of(const char* function, const Failure& failure);
// "ACL_ERROR_INVALID_PARAM"; "unknown code" for numbers no entry point returns.
std::string_view error_name(aclError code);

// Stores and logs the message of a failure and returns its code. Never called with ok.
aclError report(const char* function, const Failure& failure);

// ACL_SUCCESS for ok, else report().
inline aclError finish(const char* function, const Status& status) {
  if (status.ok()) [[likely]]
    return ACL_SUCCESS;
  return report(function, status);
}

// For unsupported functions: the code of Code::unsupported_feature and a message. `reason` says why
// and what to use instead.
aclError refuse(const char* function, std::string_view reason);

// Returns and clears the message of the most recent failure; "" when there was none. Valid until
// the thread's next call.
const char* take_recent_message();

// The code of the calling thread's most recent failure; take also resets it to ACL_SUCCESS.
aclError take_last_error();
aclError peek_last_error();

}  // namespace anynpu::acl
