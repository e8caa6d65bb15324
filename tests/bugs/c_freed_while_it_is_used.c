// SPDX-License-Identifier: Apache-2.0
// Memory is freed while queued work uses it.
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 4096 };

static void ok(aclError code) {
  if (code == ACL_SUCCESS) return;
  printf("code %d: %s\n", code, aclGetRecentErrMsg());
  exit(1);
}

int main(void) {
  ok(aclInit(NULL));
  ok(aclrtSetDevice(0));
  void* memory = NULL;
  aclrtStream stream = NULL;
  ok(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtCreateStream(&stream));
  ok(aclrtMemsetAsync(memory, kSize, 1, kSize, stream));
  ok(aclrtFree(memory));  // found: free-before-synchronize
  ok(aclrtSynchronizeStream(stream));
  ok(aclrtDestroyStream(stream));
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
