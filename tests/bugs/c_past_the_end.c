// SPDX-License-Identifier: Apache-2.0
// A fill of more than was allocated.
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
  ok(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
  aclError code = aclrtMemset(memory, 200, 0, 200);  // found: past-the-end
  printf("%d\n", code);
  ok(aclrtFree(memory));
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
