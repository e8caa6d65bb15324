// SPDX-License-Identifier: Apache-2.0
// A data buffer is moved to memory that is smaller than it says.
#include <acl/acl.h>
#include <stdlib.h>

static void ok(aclError code) {
  if (code != ACL_SUCCESS) exit(1);
}

int main(void) {
  void *large = NULL, *small = NULL;
  ok(aclInit(NULL));
  ok(aclrtSetDevice(0));
  ok(aclrtMalloc(&large, 8192, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtMalloc(&small, 1024, ACL_MEM_MALLOC_HUGE_FIRST));
  aclDataBuffer* buffer = aclCreateDataBuffer(large, 8192);
  ok(aclUpdateDataBuffer(buffer, small, 8192));  // found: past-the-end
  ok(aclDestroyDataBuffer(buffer));
  ok(aclrtFree(large));
  ok(aclrtFree(small));
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
