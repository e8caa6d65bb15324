// SPDX-License-Identifier: Apache-2.0
// Two streams write the same memory.
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
  aclrtStream streams[2];
  ok(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtCreateStream(&streams[0]));
  ok(aclrtCreateStream(&streams[1]));
  ok(aclrtMemsetAsync(memory, kSize, 1, kSize, streams[0]));
  ok(aclrtMemsetAsync(memory, kSize, 2, kSize, streams[1]));  // found: race
  ok(aclrtSynchronizeDevice());
  ok(aclrtDestroyStream(streams[0]));
  ok(aclrtDestroyStream(streams[1]));
  ok(aclrtFree(memory));
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
