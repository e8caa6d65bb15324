// SPDX-License-Identifier: Apache-2.0
// A call fails and the program goes on.
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
  aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST);  // found: ignored-error
  puts("goes on");
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
