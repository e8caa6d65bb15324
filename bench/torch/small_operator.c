/* SPDX-License-Identifier: Apache-2.0 */
/* AnyNPU's part of a small operator, as torch_npu calls it: descriptors, phase 1, phase 2, and the end
   of the descriptors. Each line "TIMES" is answered with the microseconds of one addition. */
#include <stdio.h>
#include <time.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_add.h"

#define OK(call)                                                \
  do {                                                          \
    if ((call) != 0) {                                          \
      fprintf(stderr, "%s: %s\n", #call, aclGetRecentErrMsg()); \
      return 1;                                                 \
    }                                                           \
  } while (0)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int add(void* memory[3], aclrtStream stream) {
  const int64_t shape[1] = {16}, strides[1] = {1};
  const int64_t one = 1;
  aclTensor* tensors[3];
  for (int i = 0; i < 3; ++i)
    tensors[i] = aclCreateTensor(shape, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 1, memory[i]);
  aclScalar* alpha = aclCreateScalar((void*)&one, ACL_INT64);
  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;
  OK(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &bytes, &executor));
  OK(aclnnAdd(NULL, bytes, executor, stream));
  for (int i = 0; i < 3; ++i) aclDestroyTensor(tensors[i]);
  aclDestroyScalar(alpha);
  return 0;
}

int main(void) {
  aclrtStream stream;
  void* memory[3];
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  OK(aclrtCreateStream(&stream));
  for (int i = 0; i < 3; ++i) OK(aclrtMalloc(&memory[i], 64, ACL_MEM_MALLOC_HUGE_FIRST));
  unsigned long times;
  while (scanf("%lu", &times) == 1) {
    const double start = now();
    for (unsigned long i = 0; i < times; ++i) OK(add(memory, stream));
    OK(aclrtSynchronizeStream(stream));
    printf("%.9f\n", (now() - start) / (double)times * 1e6);
    fflush(stdout);
  }
  return aclFinalize();
}
