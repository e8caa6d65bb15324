// SPDX-License-Identifier: Apache-2.0
// A dataset is used after it was destroyed.
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
  aclmdlDataset* dataset = aclmdlCreateDataset();
  ok(aclmdlDestroyDataset(dataset));
  printf("%zu\n", aclmdlGetDatasetNumBuffers(dataset));  // found: use-after-destroy
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
