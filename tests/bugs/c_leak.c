// SPDX-License-Identifier: Apache-2.0
// Memory is never freed.
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

static void* keep(size_t size) {
  void* memory = NULL;
  ok(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));  // found: leak-device-memory
  return memory;
}

int main(void) {
  ok(aclInit(NULL));
  ok(aclrtSetDevice(0));
  keep(kSize);
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
