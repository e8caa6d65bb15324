// SPDX-License-Identifier: Apache-2.0
// From Status to the vendor's numbers and sentences. One table (errors.cpp) says which aclError
// each Code becomes; the column is chosen by the family of the function that failed, and a second
// table has the functions with numbers of their own. The sentence is logged and kept for
// aclGetRecentErrMsg (base/recent_failure.h). Thread-safe; works in forked children.
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
// The number of a failed call: some functions have numbers of their own.
aclError to_acl_error(std::string_view function, Code code);
aclError number_of(const char* function, const Failure& failure);
// "ACL_ERROR_INVALID_PARAM"; "unknown code" for numbers no entry point returns.
std::string_view error_name(aclError code);

// Keeps and logs the sentence of a failure and returns its number. Never called with ok.
aclError report(const char* function, const Failure& failure);

// ACL_SUCCESS for ok, else report().
inline aclError finish(const char* function, const Status& status) {
  if (status.ok()) [[likely]]
    return ACL_SUCCESS;
  return report(function, status);
}

// What a function that is not there returns: the number of Code::unsupported_feature and a
// sentence. `reason` says why and what to use instead.
aclError refuse(const char* function, std::string_view reason);

// The sentence of the most recent failure, which is forgotten then; "" when there was none. Valid
// until the thread's next call.
const char* take_recent_message();

// The code of the calling thread's most recent failure; take also resets it to ACL_SUCCESS.
aclError take_last_error();
aclError peek_last_error();

}  // namespace anynpu::acl
