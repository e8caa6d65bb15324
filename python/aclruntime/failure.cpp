// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/failure.h"

#include "acl/acl.h"

namespace anynpu::aclruntime {

const char* text_of(int code) {
  switch (code) {
    case kGeneral:
      return "ACL: general failure";
    case kInvalidParameter:
      return "ACL: invalid parameter";
    case 2:
      return "ACL: memory allocation fail";
    case kRuntime:
      return "ACL: runtime failure";
    case 1003:
      return "Invalid Pointer";
    case kBadArgument:
      return "Invalid parameter";
    case kNoOutputSize:
      return "Output size is zero";
    default:
      return "ACL: error";
  }
}

Failure acl_failure(aclError code, const std::string& what) {
  return acl_failure_as(code, code, what);
}

Failure acl_failure_as(int code, aclError error, const std::string& what) {
  std::string message = what + " failed with AscendCL code " + std::to_string(error);
  if (const char* reason = aclGetRecentErrMsg(); reason != nullptr && *reason != '\0') {
    message += ": ";
    message += reason;
  }
  return {code, std::move(message)};
}

}  // namespace anynpu::aclruntime
