// SPDX-License-Identifier: Apache-2.0
#include "api/acl/entry.h"

#include <charconv>

namespace anynpu::acl::detail {

namespace {

constexpr std::string_view kNeedsInit[] = {
#define NEEDS_INIT(begin) begin,
#include "api/acl/needs_init.def"
#undef NEEDS_INIT
};

bool needs_init(std::string_view function) {
  for (std::string_view begin : kNeedsInit) {
    if (function.starts_with(begin)) return true;
  }
  return false;
}

}  // namespace

Status Traits::start(const char* function) {
  if (life() != Life::fresh || needs_init(function)) return service::explain_uninitialised();
  mark_runtime_used();
  return {};
}

aclError Traits::fault_number(std::string_view code) {
  aclError number = ACL_SUCCESS;
  std::from_chars(code.data(), code.data() + code.size(), number);
  return number;
}

}  // namespace anynpu::acl::detail
