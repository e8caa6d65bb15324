// SPDX-License-Identifier: Apache-2.0
// Copies bytes to the device and back with AscendCL; exit code 0 when they are the same.
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

static int failed(const char* what, aclError ret) {
  const char* message = aclGetRecentErrMsg();
  fprintf(stderr, "%s returned %d: %s\n", what, ret, message ? message : "");
  return 1;
}

int main(void) {
  char sent[256], back[256];
  void* device = NULL;
  for (int i = 0; i < 256; ++i) sent[i] = (char)i;
  aclError ret = aclInit(NULL);
  if (ret != 0) return failed("aclInit", ret);
  if ((ret = aclrtSetDevice(0)) != 0) return failed("aclrtSetDevice", ret);
  if ((ret = aclrtMalloc(&device, sizeof sent, ACL_MEM_MALLOC_HUGE_FIRST)) != 0) {
    return failed("aclrtMalloc", ret);
  }
  ret = aclrtMemcpy(device, sizeof sent, sent, sizeof sent, ACL_MEMCPY_HOST_TO_DEVICE);
  if (ret != 0) return failed("aclrtMemcpy", ret);
  ret = aclrtMemcpy(back, sizeof back, device, sizeof sent, ACL_MEMCPY_DEVICE_TO_HOST);
  if (ret != 0) return failed("aclrtMemcpy", ret);
  aclrtFree(device);
  aclrtResetDevice(0);
  aclFinalize();
  return memcmp(sent, back, sizeof sent) != 0;
}
