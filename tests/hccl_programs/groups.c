/* SPDX-License-Identifier: Apache-2.0 */
/* groups CASE [FILE]: several communicators, parts of one, all ranks in one process, rank tables.
 */
#include "ranks.h"

#define F32 HCCL_DATA_TYPE_FP32
#define SUM HCCL_REDUCE_SUM

/* The sum over a communicator of one number a rank. */
static float sum_of(Rank* me, HcclComm comm, aclrtStream stream, float mine) {
  void* at = device_memory(me, 64);
  float sum = -1;
  upload(me, at, &mine, 4);
  OK(HcclAllReduce(at, at, 1, F32, SUM, comm, stream));
  OK(aclrtSynchronizeStream(stream));
  download(me, &sum, at, 4);
  OK(aclrtFree(at));
  return sum;
}

/* Two communicators with streams of their own, in opposite order on odd ranks. */
static void two(Rank* me) {
  enum { COUNT = 1 << 20 };
  begin(me);
  share_root(me);
  HcclComm other = NULL;
  OK(HcclCommInitRootInfo(me->size, &me->root, me->rank, &other));
  aclrtStream stream = NULL;
  OK(aclrtCreateStream(&stream));
  float* host = malloc(COUNT * sizeof(float));
  void *a = device_memory(me, COUNT * 4), *b = device_memory(me, COUNT * 4);
  for (int turn = 0; turn < 5; ++turn) {
    for (int i = 0; i < COUNT; ++i) host[i] = (float)(i % 100 + turn);
    upload(me, a, host, COUNT * 4);
    upload(me, b, host, COUNT * 4);
    for (int order = 0; order < 2; ++order) {
      if ((order + (int)me->rank) % 2 == 0) {
        OK(HcclAllReduce(a, a, COUNT, F32, SUM, me->comm, me->stream));
      } else {
        OK(HcclAllReduce(b, b, COUNT, F32, HCCL_REDUCE_MAX, other, stream));
      }
    }
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSynchronizeStream(me->stream));
    download(me, host, a, COUNT * 4);
    for (int i = 0; i < COUNT; ++i) CHECK(host[i] == (float)(me->size * (i % 100 + turn)));
    download(me, host, b, COUNT * 4);
    for (int i = 0; i < COUNT; ++i) CHECK(host[i] == (float)(i % 100 + turn));
  }
  OK(HcclCommDestroy(other));
  end(me);
}

/* Even and odd ranks, then all in reverse order, then pairs that overlap. */
static void parts(Rank* me) {
  begin(me);
  uint32_t same[MOST_RANKS], count = 0, mine = 0, reverse[MOST_RANKS];
  for (uint32_t r = 0; r < me->size; ++r) {
    reverse[r] = me->size - 1 - r;
    if (r % 2 != me->rank % 2) continue;
    if (r == me->rank) mine = count;
    same[count++] = r;
  }
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  strcpy(config.hcclCommName, me->rank % 2 ? "odd ranks" : "even ranks");
  HcclComm half = NULL, turned = NULL, not_mine = (HcclComm)1;
  OK(HcclCreateSubCommConfig(&me->comm, count, same, 1 + me->rank % 2, mine, &config, &half));
  char name[COMM_NAME_MAX_LENGTH];
  OK(HcclGetCommName(half, name));
  CHECK(strcmp(name, config.hcclCommName) == 0);
  float expected = 0;
  for (uint32_t i = 0; i < count; ++i) expected += (float)(same[i] + 1);
  CHECK(sum_of(me, half, me->stream, (float)(me->rank + 1)) == expected);

  HcclCommConfigInit(&config);
  OK(HcclCreateSubCommConfig(&me->comm, me->size, reverse, 7, me->size - 1 - me->rank, &config,
                             &turned));
  uint32_t number = 99;
  OK(HcclGetRankId(turned, &number));
  CHECK(number == me->size - 1 - me->rank);
  CHECK(sum_of(me, turned, me->stream, 1) == (float)me->size);
  /* Rank 0 of the turned one is the last rank of the first. */
  void* at = device_memory(me, 64);
  float value = (float)me->rank;
  upload(me, at, &value, 4);
  OK(HcclBroadcast(at, 1, F32, 0, turned, me->stream));
  OK(aclrtSynchronizeStream(me->stream));
  download(me, &value, at, 4);
  CHECK(value == (float)(me->size - 1));

  /* A part of a part, and one that this rank is not in. */
  uint32_t first[] = {0};
  HcclComm single = NULL;
  if (mine == 0) {
    OK(HcclCreateSubCommConfig(&half, 1, first, 3, 0, &config, &single));
    CHECK(sum_of(me, single, me->stream, 5) == 5);
    OK(HcclCommDestroy(single));
  } else {
    OK(HcclCreateSubCommConfig(&half, 1, first, 3, 0, &config, &not_mine));
    CHECK(not_mine == NULL);
  }
  uint32_t twice[] = {me->rank, me->rank}, far[] = {77};
  FAILS(HcclCreateSubCommConfig(&me->comm, 2, twice, 9, 0, &config, &single), HCCL_E_PARA, "twice");
  FAILS(HcclCreateSubCommConfig(&me->comm, 1, far, 9, 0, &config, &single), HCCL_E_PARA, "77");
  FAILS(HcclCreateSubCommConfig(&me->comm, me->size, reverse, 9, me->rank + 50, &config, &single),
        HCCL_E_PARA, "subCommRankId");
  /* The first communicator works on when parts of it are gone. */
  OK(HcclCommDestroy(half));
  OK(HcclCommDestroy(turned));
  CHECK(sum_of(me, me->comm, me->stream, 1) == (float)me->size);
  end(me);
}

/* All ranks in this process, one device each. */
static void in_one_process(Rank* me) {
  enum { DEVICES = 4, COUNT = 300000 };
  int32_t devices[DEVICES] = {3, 1, 0, 2}, wrong[2] = {0, 0};
  HcclComm comms[DEVICES];
  aclrtStream streams[DEVICES];
  void* at[DEVICES];
  OK(aclInit(NULL));
  FAILS(HcclCommInitAll(2, wrong, comms), HCCL_E_PARA, "twice");
  FAILS(HcclCommInitAll(0, devices, comms), HCCL_E_PARA, "0");
  OK(HcclCommInitAll(DEVICES, devices, comms));
  float* host = malloc(COUNT * sizeof(float));
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < DEVICES; ++i) {
      OK(aclrtSetDevice(devices[i]));
      OK(aclrtCreateStream(&streams[i]));
      at[i] = device_memory(me, COUNT * 4);
      for (int k = 0; k < COUNT; ++k) host[k] = (float)(k % 1000 * (i + 1));
      upload(me, at[i], host, COUNT * 4);
      OK(HcclAllReduce(at[i], at[i], COUNT, F32, SUM, comms[i], streams[i]));
    }
    for (int i = 0; i < DEVICES; ++i) {
      OK(aclrtSetDevice(devices[i]));
      OK(aclrtSynchronizeStream(streams[i]));
      download(me, host, at[i], COUNT * 4);
      for (int k = 0; k < COUNT; ++k) CHECK(host[k] == (float)(k % 1000 * 10));
      OK(aclrtFree(at[i]));
      OK(aclrtDestroyStream(streams[i]));
    }
  }
  for (int i = 0; i < DEVICES; ++i) OK(HcclCommDestroy(comms[i]));
  OK(aclFinalize());
}

/* By the rank table whose path is in RANK_TABLE, twice. */
static void by_table(Rank* me) {
  begin_rank(me);
  for (int turn = 0; turn < 2; ++turn) {
    OK(HcclCommInitClusterInfo(getenv("RANK_TABLE"), me->rank, &me->comm));
    uint32_t size = 0;
    OK(HcclGetRankSize(me->comm, &size));
    CHECK(size == me->size);
    CHECK(sum_of(me, me->comm, me->stream, 1) == (float)me->size);
    if (turn == 0) OK(HcclCommDestroy(me->comm));
  }
  end(me);
}

/* Settings, names and memory that is announced. */
static void settings(Rank* me) {
  begin_rank(me);
  share_root(me);
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  config.hcclBufferSize = 1;
  strcpy(config.hcclCommName, "group of tests");
  CHECK(HcclGetCommConfigCapability() > HCCL_COMM_CONFIG_COMM_NAME);
  OK(HcclCommInitRootInfoConfig(me->size, &me->root, me->rank, &config, &me->comm));
  char name[COMM_NAME_MAX_LENGTH];
  OK(HcclGetCommName(me->comm, name));
  CHECK(strcmp(name, "group of tests") == 0);
  HcclConfigValue value = {1};
  OK(HcclSetConfig(HCCL_DETERMINISTIC, value));
  value.value = 0;
  OK(HcclGetConfig(HCCL_DETERMINISTIC, &value));
  CHECK(value.value == 1);

  char* at = device_memory(me, 1 << 20);
  OK(HcclCommSetMemoryRange(me->comm, at, 1 << 20, 0, 0));
  FAILS(HcclCommSetMemoryRange(me->comm, at + 4096, 4096, 0, 0), HCCL_E_PARA, "overlap");
  OK(HcclCommActivateCommMemory(me->comm, at + 4096, 4096, 0, NULL, 0));
  FAILS(HcclCommActivateCommMemory(me->comm, at + (1 << 20), 4096, 0, NULL, 0), HCCL_E_NOT_FOUND,
        "range");
  OK(HcclCommDeactivateCommMemory(me->comm, at + 4096));
  FAILS(HcclCommDeactivateCommMemory(me->comm, at + 4096), HCCL_E_NOT_FOUND, "active");
  OK(HcclCommUnsetMemoryRange(me->comm, at));
  FAILS(HcclCommUnsetMemoryRange(me->comm, at), HCCL_E_NOT_FOUND, "range");
  void* window = NULL;
  uint32_t peers[] = {0, 1}, far[] = {9};
  bool backup[] = {false, true};
  OK(HcclCommRegister(me->comm, at, 4096, &window, 0));
  OK(HcclCommExchangeMem(me->comm, window, peers, 2));
  FAILS(HcclCommExchangeMem(me->comm, window, far, 1), HCCL_E_PARA, "9");
  OK(HcclCommDeregister(me->comm, window));
  FAILS(HcclCommDeregister(me->comm, window), HCCL_E_NOT_FOUND, "window");
  OK(HcclCommWorkingDevNicSet(me->comm, peers, backup, 1));
  FAILS(HcclCommWorkingDevNicSet(me->comm, peers, backup, 2), HCCL_E_NOT_SUPPORT, "backup");
  CHECK(strcmp(HcclGetErrorString(HCCL_E_TIMEOUT), "HCCL_E_TIMEOUT") == 0);
  CHECK(sum_of(me, me->comm, me->stream, 1) == (float)me->size);
  end(me);
}

static const struct {
  const char* name;
  void (*work)(Rank*);
  uint32_t ranks;
} kCases[] = {{"two", two, 2},
              {"parts", parts, 4},
              {"in_one_process", in_one_process, 1},
              {"by_table", by_table, 2},
              {"settings", settings, 2}};

int main(int argc, char** argv) {
  int failed = 1;
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], kCases[i].name) == 0) {
      failed = run_ranks(kCases[i].ranks, kCases[i].work, -1);
    }
  }
  if (!failed) puts("as expected");
  return failed;
}
