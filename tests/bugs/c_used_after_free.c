// SPDX-License-Identifier: Apache-2.0
// A copy into freed memory.
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
  char from[64] = {0};
  ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtFree(memory));
  if (!aclrtMemcpy(memory, 64, from, 64, ACL_MEMCPY_HOST_TO_DEVICE)) return 1;  // found: use-after-free
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
