// SPDX-License-Identifier: Apache-2.0
#include "api/acl/entry.h"

#include <charconv>

namespace anynpu::acl::detail {

Status explain_uninitialised() {
  if (life() == Life::finalised) {
    return fail(
        Code::not_initialized,
        "the call came after aclFinalize; expected an initialised library: move aclFinalize to "
        "the end, or call aclInit again");
  }
  return fail(Code::not_initialized,
              "the call came before aclInit; expected an initialised library: call aclInit first");
}

aclError Traits::fault_number(std::string_view code) {
  aclError number = ACL_SUCCESS;
  std::from_chars(code.data(), code.data() + code.size(), number);
  return number;
}

}  // namespace anynpu::acl::detail
