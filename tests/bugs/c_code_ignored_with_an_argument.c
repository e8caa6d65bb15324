// SPDX-License-Identifier: Apache-2.0
// The code of a failed copy is ignored; the next call comes at once.
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
  char from[64] = {0};
  void* memory = NULL;
  ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtMemcpy(NULL, 64, from, 64, ACL_MEMCPY_HOST_TO_DEVICE);  // found: ignored-error
  ok(aclrtFree(memory));
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
