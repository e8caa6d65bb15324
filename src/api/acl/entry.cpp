// SPDX-License-Identifier: Apache-2.0
#include "api/acl/entry.h"

#include <charconv>

namespace anynpu::acl::detail {

aclError Traits::fault_number(std::string_view code) {
  aclError number = ACL_SUCCESS;
  std::from_chars(code.data(), code.data() + code.size(), number);
  return number;
}

}  // namespace anynpu::acl::detail
