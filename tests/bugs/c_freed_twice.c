// SPDX-License-Identifier: Apache-2.0
// Host memory is freed twice.
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
  void* host = NULL;
  ok(aclrtMallocHost(&host, kSize));
  ok(aclrtFreeHost(host));
  if (aclrtFreeHost(host) == ACL_SUCCESS) return 1;  // found: double-free
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
