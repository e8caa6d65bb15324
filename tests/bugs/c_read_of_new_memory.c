// SPDX-License-Identifier: Apache-2.0
// Device memory is read before anything wrote it.
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
  char to[64];
  ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtMemcpy(to, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_HOST));  // found: read-before-write
  ok(aclrtFree(memory));
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
