/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define CHECK(call)                                                  \
  do {                                                               \
    aclError code = (call);                                          \
    if (code != ACL_SUCCESS) {                                       \
      printf("%s: %d %s\n", #call, (int)code, aclGetRecentErrMsg()); \
      exit(1);                                                       \
    }                                                                \
  } while (0)

static inline void* to_device(const void* data, size_t bytes) {
  void* address = NULL;
  CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  if (data) CHECK(aclrtMemcpy(address, bytes, data, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return address;
}

static inline void to_host(void* data, const void* address, size_t bytes) {
  CHECK(aclrtMemcpy(data, bytes, address, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
}
