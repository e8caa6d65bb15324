// SPDX-License-Identifier: Apache-2.0
// Four bytes of a queued copy are read before the stream is waited for.
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
  void* host = NULL;
  aclrtStream stream = NULL;
  ok(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ok(aclrtMallocHost(&host, 4));
  ok(aclrtMemset(memory, 64, 7, 64));
  ok(aclrtCreateStream(&stream));
  ok(aclrtMemcpyAsync(host, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  printf("%d\n", *(volatile int*)host);  // found: read-before-synchronize
  ok(aclrtSynchronizeStream(stream));
  ok(aclrtDestroyStream(stream));
  ok(aclrtFreeHost(host));
  ok(aclrtFree(memory));
  ok(aclrtResetDevice(0));
  ok(aclFinalize());
  return 0;
}
