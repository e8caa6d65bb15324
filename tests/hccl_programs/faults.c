/* SPDX-License-Identifier: Apache-2.0 */
/* faults CASE: wrong calls, and peers that die, never come or do something else. Prints "as
   expected" when every rank saw what it should. */
#include <signal.h>
#include <time.h>

#include "ranks.h"

#define F32 HCCL_DATA_TYPE_FP32
#define SUM HCCL_REDUCE_SUM

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The stream fails with these words, in time; then the communicator says so too. */
static void expect_failure(Rank* me, HcclResult result, const char* words, double seconds) {
  const double start = now();
  const int code = (int)aclrtSynchronizeStream(me->stream);
  const char* text = aclGetRecentErrMsg();
  if (code == 0 || !text || !strstr(text, words) || now() - start > seconds) {
    fprintf(stderr,
            "rank %u: the stream gave %d after %.1f s, expected a failure with '%s'\n  %s\n",
            me->rank, code, now() - start, words, text ? text : "");
    exit(1);
  }
  HcclResult found = HCCL_SUCCESS;
  OK(HcclGetCommAsyncError(me->comm, &found));
  if (found != result) {
    fprintf(stderr, "rank %u: the communicator says %s, expected %s\n", me->rank,
            HcclGetErrorString(found), HcclGetErrorString(result));
    exit(1);
  }
  void* at = device_memory(me, 64);
  CHECK(HcclAllReduce(at, at, 1, F32, SUM, me->comm, me->stream) == result);
}

static void killed(Rank* me) {
  setenv("HCCL_EXEC_TIMEOUT", "100", 1);
  begin(me);
  void* at = device_memory(me, 1 << 20);
  OK(HcclAllReduce(at, at, 1 << 18, F32, SUM, me->comm, me->stream));
  OK(aclrtSynchronizeStream(me->stream));
  if (me->rank == 1) raise(SIGKILL);
  OK(HcclAllReduce(at, at, 1 << 18, F32, SUM, me->comm, me->stream));
  expect_failure(me, HCCL_E_REMOTE, "rank", 10);
}

/* Rank 1 leaves after it has sent all that the others wait for. */
static void left(Rank* me) {
  begin(me);
  void* at = device_memory(me, 64);
  if (me->rank == 1) {
    OK(HcclSend(at, 4, F32, 0, me->comm, me->stream));
    OK(aclrtSynchronizeStream(me->stream));
    OK(HcclCommDestroy(me->comm));
    exit(0);
  }
  if (me->rank > 1) exit(0);
  usleep(200000);
  OK(HcclRecv(at, 4, F32, 1, me->comm, me->stream));
  OK(aclrtSynchronizeStream(me->stream));
  OK(HcclRecv(at, 4, F32, 1, me->comm, me->stream));
  expect_failure(me, HCCL_E_REMOTE, "rank 1", 10);
}

static void silent(Rank* me) {
  setenv("HCCL_EXEC_TIMEOUT", "1", 1);
  begin(me);
  void* at = device_memory(me, 64);
  if (me->rank == 1) {
    sleep(3);
    exit(0);
  }
  OK(HcclAllReduce(at, at, 4, F32, SUM, me->comm, me->stream));
  if (me->rank == 0) expect_failure(me, HCCL_E_TIMEOUT, "HCCL_EXEC_TIMEOUT", 10);
}

/* The time limit of one communicator. */
static void silent_by_config(Rank* me) {
  begin_rank(me);
  share_root(me);
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  config.hcclExecTimeOut = 1;
  OK(HcclCommInitRootInfoConfig(me->size, &me->root, me->rank, &config, &me->comm));
  void* at = device_memory(me, 64);
  if (me->rank == 1) {
    sleep(3);
    exit(0);
  }
  OK(HcclAllReduce(at, at, 4, F32, SUM, me->comm, me->stream));
  expect_failure(me, HCCL_E_TIMEOUT, "waited 1 s", 10);
}

static void absent(Rank* me) {
  setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
  begin_rank(me);
  share_root(me);
  if (me->rank == 1) {
    sleep(3);
    exit(0);
  }
  const double start = now();
  const HcclResult result = HcclCommInitRootInfo(me->size, &me->root, me->rank, &me->comm);
  const char* text = aclGetRecentErrMsg();
  CHECK(result == HCCL_E_TIMEOUT || result == HCCL_E_REMOTE);
  CHECK(text && strstr(text, "rank 1") && strstr(text, "HCCL_CONNECT_TIMEOUT"));
  CHECK(now() - start < 10);
}

static void died_before_joining(Rank* me) {
  begin_rank(me);
  share_root(me);
  if (me->rank == 0) raise(SIGKILL); /* made the root info */
  usleep(100000);
  const HcclResult result = HcclCommInitRootInfo(me->size, &me->root, me->rank, &me->comm);
  CHECK(result == HCCL_E_NOT_FOUND || result == HCCL_E_REMOTE);
}

static void other_rank_count(Rank* me) {
  begin_rank(me);
  share_root(me);
  const HcclResult result =
      HcclCommInitRootInfo(me->size + me->rank, &me->root, me->rank, &me->comm);
  const char* text = aclGetRecentErrMsg();
  CHECK(result == HCCL_E_PARA || result == HCCL_E_REMOTE);
  CHECK(text && strstr(text, "ranks"));
}

static void same_rank(Rank* me) {
  begin_rank(me);
  share_root(me);
  if (me->rank) usleep(100000);
  setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
  const HcclResult result = HcclCommInitRootInfo(me->size, &me->root, 0, &me->comm);
  CHECK(result == (me->rank == 0 ? HCCL_E_TIMEOUT : HCCL_E_PARA) || result == HCCL_E_REMOTE);
}

/* One rank sums, the other gathers; one sums more than the other. */
static void other_operation(Rank* me) {
  begin(me);
  char* at = device_memory(me, 4096);
  if (me->rank == 0) {
    OK(HcclAllReduce(at, at, 10, F32, SUM, me->comm, me->stream));
  } else {
    OK(HcclAllGather(at, at, 10, F32, me->comm, me->stream));
  }
  CHECK(aclrtSynchronizeStream(me->stream) != 0);
  const char* text = aclGetRecentErrMsg();
  CHECK(text && (strstr(text, "same calls") || strstr(text, "failed")));
}
static void other_count(Rank* me) {
  begin(me);
  void* at = device_memory(me, 4096);
  OK(HcclAllReduce(at, at, 10 + me->rank, F32, SUM, me->comm, me->stream));
  CHECK(aclrtSynchronizeStream(me->stream) != 0);
  const char* text = aclGetRecentErrMsg();
  CHECK(text && strstr(text, "bytes"));
}

/* A failure is over when all ranks resume. */
static void resumed(Rank* me) {
  other_count(me);
  OK(HcclCommResume(me->comm));
  HcclResult found = HCCL_E_INTERNAL;
  OK(HcclGetCommAsyncError(me->comm, &found));
  CHECK(found == HCCL_SUCCESS);
  float one = 1, sum = 0;
  void* at = device_memory(me, 4096);
  for (int turn = 0; turn < 3; ++turn) {
    upload(me, at, &one, 4);
    OK(HcclAllReduce(at, at, 1, F32, SUM, me->comm, me->stream));
    OK(aclrtSynchronizeStream(me->stream));
    download(me, &sum, at, 4);
    CHECK(sum == (float)me->size);
  }
  end(me);
}

static void wrong_arguments(Rank* me) {
  begin(me);
  void* at = device_memory(me, 4096);
  void* bad = (void*)0x12340;
  const HcclComm none = (HcclComm)0x1234;
  const aclrtStream no_stream = (aclrtStream)0x1234;
  char text[8];
  FAILS(HcclAllReduce(at, at, 1, F32, SUM, NULL, me->stream), HCCL_E_PARA, "communicator");
  FAILS(HcclAllReduce(at, at, 1, F32, SUM, none, me->stream), HCCL_E_PARA, "communicator");
  FAILS(HcclAllReduce(at, at, 1, F32, SUM, me->comm, no_stream), HCCL_E_PARA, "stream");
  FAILS(HcclAllReduce(NULL, at, 1, F32, SUM, me->comm, me->stream), HCCL_E_PARA, "sendBuf");
  FAILS(HcclAllReduce(at, bad, 1, F32, SUM, me->comm, me->stream), HCCL_E_PARA, "recvBuf");
  FAILS(HcclAllReduce(at, at, 1 << 30, F32, SUM, me->comm, me->stream), HCCL_E_PARA, "sendBuf");
  FAILS(HcclAllReduce(at, at, ~0ull, F32, SUM, me->comm, me->stream), HCCL_E_PARA, "count");
  FAILS(HcclAllReduce(at, at, 1, (HcclDataType)77, SUM, me->comm, me->stream), HCCL_E_PARA, "77");
  FAILS(HcclAllReduce(at, at, 1, F32, (HcclReduceOp)9, me->comm, me->stream), HCCL_E_PARA, "9");
  FAILS(HcclAllReduce(at, at, 1, HCCL_DATA_TYPE_INT128, SUM, me->comm, me->stream),
        HCCL_E_NOT_SUPPORT, "int128");
  FAILS(HcclBroadcast(at, 1, F32, me->size, me->comm, me->stream), HCCL_E_PARA, "root");
  FAILS(HcclReduce(at, at, 1, F32, SUM, 99, me->comm, me->stream), HCCL_E_PARA, "root");
  FAILS(HcclScatter(at, at, 1, F32, 99, me->comm, me->stream), HCCL_E_PARA, "root");
  FAILS(HcclSend(at, 1, F32, me->rank, me->comm, me->stream), HCCL_E_PARA, "itself");
  FAILS(HcclRecv(at, 1, F32, 99, me->comm, me->stream), HCCL_E_PARA, "99");
  FAILS(HcclBatchSendRecv(NULL, 1, me->comm, me->stream), HCCL_E_PARA, "sendRecvInfo");
  FAILS(HcclAlltoAllV(at, NULL, NULL, F32, at, NULL, NULL, F32, me->comm, me->stream), HCCL_E_PARA,
        "sendCounts");
  FAILS(HcclAlltoAllVC(at, bad, F32, at, F32, me->comm, me->stream), HCCL_E_PARA, "Matrix");
  FAILS(HcclAlltoAll(at, 1, F32, at, 1, HCCL_DATA_TYPE_INT8, me->comm, me->stream), HCCL_E_PARA,
        "recvType");
  FAILS(HcclBarrier(NULL, me->stream), HCCL_E_PARA, "communicator");
  FAILS(HcclGetRootInfo(NULL), HCCL_E_PARA, "rootInfo");
  HcclComm other = NULL;
  HcclRootInfo empty;
  memset(&empty, 0, sizeof empty);
  FAILS(HcclCommInitRootInfo(2, &empty, 0, &other), HCCL_E_PARA, "HcclGetRootInfo");
  FAILS(HcclCommInitRootInfo(2, NULL, 0, &other), HCCL_E_PARA, "rootInfo");
  FAILS(HcclCommInitRootInfo(2, &me->root, 2, &other), HCCL_E_PARA, "rank");
  FAILS(HcclCommInitRootInfo(0, &me->root, 0, &other), HCCL_E_PARA, "nRanks");
  FAILS(HcclCommInitRootInfo(2, &me->root, 0, NULL), HCCL_E_PARA, "comm");
  FAILS(HcclCommInitClusterInfo("/nowhere/table.json", 0, &other), HCCL_E_OPEN_FILE_FAILURE,
        "/nowhere/table.json");
  HcclCommConfig config;
  memset(&config, 0, sizeof config);
  FAILS(HcclCommInitRootInfoConfig(2, &me->root, 0, &config, &other), HCCL_E_PARA,
        "HcclCommConfigInit");
  FAILS(HcclGetCommName(me->comm, NULL), HCCL_E_PARA, "commName");
  FAILS(HcclGetRankId(me->comm, NULL), HCCL_E_PARA, "rank");
  FAILS(HcclGetRankSize(none, (uint32_t*)text), HCCL_E_PARA, "communicator");
  FAILS(HcclCommDestroy(none), HCCL_E_PARA, "communicator");
  FAILS(HcclSetConfig((HcclConfig)5, (HcclConfigValue){0}), HCCL_E_PARA, "5");
  FAILS(HcclSetConfig(HCCL_DETERMINISTIC, (HcclConfigValue){7}), HCCL_E_PARA, "7");
  /* Nothing of this touched the communicator. */
  OK(HcclAllReduce(at, at, 1, F32, SUM, me->comm, me->stream));
  OK(aclrtSynchronizeStream(me->stream));
  HcclComm ended = me->comm;
  end(me);
  CHECK(HcclCommDestroy(ended) != HCCL_SUCCESS);
}

static const struct {
  const char* name;
  void (*work)(Rank*);
  uint32_t ranks;
  int killed_rank;
} kCases[] = {
    {"killed", killed, 3, 1},
    {"left", left, 3, -1},
    {"silent", silent, 2, -1},
    {"silent_by_config", silent_by_config, 2, -1},
    {"absent", absent, 3, -1},
    {"died_before_joining", died_before_joining, 3, 0},
    {"other_rank_count", other_rank_count, 2, -1},
    {"same_rank", same_rank, 2, -1},
    {"other_operation", other_operation, 2, -1},
    {"other_count", other_count, 2, -1},
    {"resumed", resumed, 3, -1},
    {"wrong_arguments", wrong_arguments, 2, -1},
};

int main(int argc, char** argv) {
  int failed = 1;
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], kCases[i].name) == 0) {
      failed = run_ranks(kCases[i].ranks, kCases[i].work, kCases[i].killed_rank);
    }
  }
  if (!failed) puts("as expected");
  return failed;
}
