// SPDX-License-Identifier: Apache-2.0
// The program ends without aclFinalize.
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
  ok(aclInit(NULL));  // found: not-finalized
  return 0;
}
