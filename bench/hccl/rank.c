/* SPDX-License-Identifier: Apache-2.0 */
/* One of two ranks that AllReduce for bench/rows/hccl.py. Rank 0 writes the root info as hex; both
   read it. Then each line "BYTES TIMES" is answered with the seconds of one AllReduce. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

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

int main(int argc, char** argv) {
  const int rank = argc > 1 ? atoi(argv[1]) : 0;
  HcclRootInfo root;
  HcclComm comm;
  aclrtStream stream;
  void* at = NULL;
  const size_t most = 64 << 20;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(rank));
  OK(aclrtCreateStream(&stream));
  if (rank == 0) {
    OK(HcclGetRootInfo(&root));
    for (size_t i = 0; i < sizeof root; ++i) printf("%02x", (unsigned char)root.internal[i]);
    printf("\n");
    fflush(stdout);
  } else {
    for (size_t i = 0; i < sizeof root; ++i) {
      unsigned byte;
      if (scanf("%2x", &byte) != 1) return 1;
      root.internal[i] = (char)byte;
    }
  }
  OK(HcclCommInitRootInfo(2, &root, (uint32_t)rank, &comm));
  OK(aclrtMalloc(&at, most, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(at, most, 0, most));
  unsigned long bytes, times;
  while (scanf("%lu %lu", &bytes, &times) == 2 && bytes <= most) {
    OK(HcclBarrier(comm, stream));
    OK(aclrtSynchronizeStream(stream));
    const double start = now();
    for (unsigned long i = 0; i < times; ++i) {
      OK(HcclAllReduce(at, at, bytes / 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
      OK(aclrtSynchronizeStream(stream));
    }
    printf("%.9f\n", (now() - start) / (double)times);
    fflush(stdout);
  }
  OK(HcclCommDestroy(comm));
  OK(aclFinalize());
  return 0;
}
