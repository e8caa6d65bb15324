// SPDX-License-Identifier: Apache-2.0
// Memory is freed after the device was reset.
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
  ok(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtResetDevice(0));
  aclError code = aclrtFree(memory);  // found: teardown-order
  printf("%d\n", code);
  ok(aclFinalize());
  return 0;
}
