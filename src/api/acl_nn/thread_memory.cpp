// SPDX-License-Identifier: Apache-2.0
// Memory that a thread keeps for the executors of its calls. Frameworks announce its begin and end
// around each call. Executors here own what they need, so there is nothing to keep.
#include "acl/acl_base.h"

extern "C" {

ACL_FUNC_VISIBILITY int InitHugeMemThreadLocal(void* memory, bool shared);
ACL_FUNC_VISIBILITY void UnInitHugeMemThreadLocal(void* memory, bool shared);
ACL_FUNC_VISIBILITY void ReleaseHugeMem(void* memory, bool shared);

int InitHugeMemThreadLocal(void*, bool) { return 0; }
void UnInitHugeMemThreadLocal(void*, bool) {}
void ReleaseHugeMem(void*, bool) {}

}  // extern "C"
