// SPDX-License-Identifier: Apache-2.0
// aclGetRecentErrMsg: returns and clears the message of the last failure; null when there was none,
// which programs take for "no error".
#include "acl/acl.h"
#include "api/acl/entry.h"

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

const char* aclGetRecentErrMsg(void) {
  const char* message = take_recent_message();
  return *message ? message : nullptr;
}

}  // extern "C"
