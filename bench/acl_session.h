// SPDX-License-Identifier: Apache-2.0
// For rows that go through the C API: init and device 0 for as long as it lives, and a check that
// ends the program with the API's error message, because timing a failing call is
// meaningless.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

namespace anynpu::bench {

inline void must(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d: %s\n", call, code, message ? message : "");
  std::exit(1);
}

#define ANYNPU_MUST(call) ::anynpu::bench::must(call, #call)

class AclSession {
 public:
  AclSession() {
    ANYNPU_MUST(aclInit(nullptr));
    ANYNPU_MUST(aclrtSetDevice(0));
  }
  ~AclSession() {
    aclrtResetDevice(0);
    aclFinalize();
  }
  AclSession(const AclSession&) = delete;
  AclSession& operator=(const AclSession&) = delete;
};

}  // namespace anynpu::bench
