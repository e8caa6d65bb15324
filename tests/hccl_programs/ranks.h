/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as processes, for the programs beside this file: forked before the first call of acl, one
   device each; rank 0 makes the root info and sends it to the others through pipes. */
#ifndef TESTS_HCCL_RANKS_H_
#define TESTS_HCCL_RANKS_H_

#ifndef _GNU_SOURCE /* for unshare */
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define MOST_RANKS 16

typedef struct {
  uint32_t rank, size;
  HcclComm comm;
  aclrtStream stream;
  HcclRootInfo root;
  int pipes[MOST_RANKS][2];
} Rank;

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "rank %u: %s:%d: %s\n  %s\n", me->rank, __FILE__, __LINE__, #condition, \
              aclGetRecentErrMsg() ? "" : "");                                                \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)
#define OK(call)                                                                              \
  do {                                                                                        \
    int result_ = (int)(call);                                                                \
    if (result_ != 0) {                                                                       \
      const char* text_ = aclGetRecentErrMsg();                                               \
      fprintf(stderr, "rank %u: %s:%d: %s returned %d\n  %s\n", me->rank, __FILE__, __LINE__, \
              #call, result_, text_ ? text_ : "");                                            \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)
/* A call that must fail with this result and a sentence that has these words. */
#define FAILS(call, expected, words)                                                             \
  do {                                                                                           \
    int result_ = (int)(call);                                                                   \
    const char* text_ = aclGetRecentErrMsg();                                                    \
    if (result_ != (int)(expected) || !text_ || !strstr(text_, words)) {                         \
      fprintf(stderr, "rank %u: %s:%d: %s returned %d, expected %d with '%s'\n  %s\n", me->rank, \
              __FILE__, __LINE__, #call, result_, (int)(expected), words, text_ ? text_ : "");   \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

static inline void* device_memory(Rank* me, size_t bytes) {
  void* at = NULL;
  OK(aclrtMalloc(&at, bytes ? bytes : 64, ACL_MEM_MALLOC_HUGE_FIRST));
  return at;
}
static inline void upload(Rank* me, void* to, const void* from, size_t bytes) {
  if (bytes) OK(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}
static inline void download(Rank* me, void* to, const void* from, size_t bytes) {
  if (bytes) OK(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
}

/* The root info of rank 0, in every rank. */
static inline void share_root(Rank* me) {
  if (me->rank == 0) {
    OK(HcclGetRootInfo(&me->root));
    for (uint32_t peer = 1; peer < me->size; ++peer) {
      if (write(me->pipes[peer][1], &me->root, sizeof me->root) != (ssize_t)sizeof me->root)
        exit(1);
    }
  } else {
    size_t got = 0;
    while (got < sizeof me->root) {
      ssize_t n = read(me->pipes[me->rank][0], (char*)&me->root + got, sizeof me->root - got);
      if (n <= 0) exit(1);
      got += (size_t)n;
    }
  }
}

static inline void begin_rank(Rank* me) {
  OK(aclInit(NULL));
  OK(aclrtSetDevice((int32_t)(me->rank % 8)));
  OK(aclrtCreateStream(&me->stream));
}
static inline void begin(Rank* me) {
  begin_rank(me);
  share_root(me);
  OK(HcclCommInitRootInfo(me->size, &me->root, me->rank, &me->comm));
}
static inline void end(Rank* me) {
  OK(HcclCommDestroy(me->comm));
  OK(aclrtDestroyStream(me->stream));
  OK(aclrtResetDevice((int32_t)(me->rank % 8)));
  OK(aclFinalize());
}

/* With REMOTE_RANKS = all (or odd), all (or odd) ranks go on in a namespace of process numbers of
   their own, as in a container, so that they count as other machines; its first process only waits.
 */
static inline void become_remote(uint32_t rank) {
  const char* who = getenv("REMOTE_RANKS");
  if (!who || (strcmp(who, "odd") == 0 && rank % 2 == 0)) return;
  if (unshare(CLONE_NEWPID) != 0) exit(77);
  for (int depth = 0; depth < 2; ++depth) {
    const pid_t child = fork();
    if (child == 0) continue;
    int status = 0;
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
}

/* Runs `work` as `size` processes; 0 when all end with 0, else prints which did not. A rank that is
   expected to be killed is not counted. */
static inline int run_ranks(uint32_t size, void (*work)(Rank*), int killed_rank) {
  Rank me[1];
  memset(me, 0, sizeof me);
  me->size = size;
  pid_t children[MOST_RANKS];
  for (uint32_t i = 0; i < size; ++i) {
    if (pipe(me->pipes[i]) != 0) return 1;
  }
  for (uint32_t i = 0; i < size; ++i) {
    children[i] = fork();
    if (children[i] == 0) {
      me->rank = i;
      /* Only rank 0 writes, so that the others see when it is gone. */
      for (uint32_t r = 0; i && r < size; ++r) close(me->pipes[r][1]);
      become_remote(i);
      work(me);
      exit(0);
    }
  }
  for (uint32_t r = 0; r < size; ++r) close(me->pipes[r][1]);
  int failed = 0;
  for (uint32_t i = 0; i < size; ++i) {
    int status = 0;
    waitpid(children[i], &status, 0);
    if ((int)i == killed_rank) continue;
    if (status != 0) {
      fprintf(stderr, "rank %u ended with status %#x\n", i, status);
      failed = 1;
    }
  }
  return failed;
}

#endif
