// SPDX-License-Identifier: Apache-2.0
// aclGetRecentErrMsg: gives the sentence of the last failure and forgets it.
#include "acl/acl.h"
#include "api/acl/entry.h"

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

const char* aclGetRecentErrMsg(void) { return take_recent_message(); }

}  // extern "C"
