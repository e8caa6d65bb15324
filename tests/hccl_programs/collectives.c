/* SPDX-License-Identifier: Apache-2.0 */
/* collectives RANKS: every operation with every type, against a reference computed here. */
#include "ranks.h"
#include "values.h"

static const uint64_t kCounts[] = {1, 3, 17, 1000, 100003};
#define COUNTS (sizeof kCounts / sizeof kCounts[0])
static const HcclReduceOp kOps[] = {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX,
                                    HCCL_REDUCE_MIN};
static uint32_t all_ranks[MOST_RANKS];

static char *host, *expected, *line;
static char *in, *out;

/* Device memory with the values of `rank` for places [0, count). */
static void fill(Rank* me, const Type* type, void* to, uint64_t count, uint32_t rank) {
  for (uint64_t i = 0; i < count; ++i) put_value(type, host, i, rank);
  upload(me, to, host, count * type->bytes);
}
static void expect_bytes(Rank* me, const char* what, const Type* type, const void* at,
                         uint64_t count) {
  OK(aclrtSynchronizeStream(me->stream));
  download(me, host, at, count * type->bytes);
  for (uint64_t i = 0; i < count * type->bytes; ++i) {
    if (host[i] == expected[i]) continue;
    fprintf(stderr, "rank %u: %s of %llu %s differs at byte %llu: %#x, expected %#x\n", me->rank,
            what, (unsigned long long)count, type->name, (unsigned long long)i, host[i] & 0xff,
            expected[i] & 0xff);
    exit(1);
  }
}

static void reductions(Rank* me, const Type* type, HcclReduceOp op, uint64_t count, int in_place) {
  char* to = in_place ? in : out;
  for (uint64_t i = 0; i < count; ++i) {
    put_reduced(type, op, expected, line, i, all_ranks, me->size);
  }
  fill(me, type, in, count, me->rank);
  OK(HcclAllReduce(in, to, count, type->type, op, me->comm, me->stream));
  expect_bytes(me, "AllReduce", type, to, count);

  const uint32_t root = (uint32_t)(count % me->size);
  fill(me, type, in, count, me->rank);
  OK(HcclReduce(in, to, count, type->type, op, root, me->comm, me->stream));
  if (me->rank == root) expect_bytes(me, "Reduce", type, to, count);
  OK(aclrtSynchronizeStream(me->stream));

  /* Each rank gets its part of count elements a rank. */
  const uint64_t part = count / me->size + 1, all = part * me->size;
  for (uint64_t i = me->rank * part; i < (me->rank + 1) * part; ++i) {
    put_reduced(type, op, expected, line, i, all_ranks, me->size);
  }
  memmove(expected, expected + me->rank * part * type->bytes, part * type->bytes);
  fill(me, type, in, all, me->rank);
  char* mine = in_place ? in + me->rank * part * type->bytes : out;
  OK(HcclReduceScatter(in, mine, part, type->type, op, me->comm, me->stream));
  expect_bytes(me, "ReduceScatter", type, mine, part);
}

static void reduce_scatter_v(Rank* me, const Type* type) {
  uint64_t counts[MOST_RANKS], displs[MOST_RANKS], at = 2;
  for (uint32_t r = 0; r < me->size; ++r) {
    counts[r] = r * 5; /* rank 0 gets nothing */
    displs[r] = at;
    at += counts[r] + 1;
  }
  for (uint64_t i = displs[me->rank]; i < displs[me->rank] + counts[me->rank]; ++i) {
    put_reduced(type, HCCL_REDUCE_SUM, expected, line, i, all_ranks, me->size);
  }
  memmove(expected, expected + displs[me->rank] * type->bytes, counts[me->rank] * type->bytes);
  fill(me, type, in, at, me->rank);
  OK(HcclReduceScatterV(in, counts, displs, out, counts[me->rank], type->type, HCCL_REDUCE_SUM,
                        me->comm, me->stream));
  expect_bytes(me, "ReduceScatterV", type, out, counts[me->rank]);
}

static void gathers(Rank* me, const Type* type, uint64_t count, int in_place) {
  for (uint32_t r = 0; r < me->size; ++r) {
    for (uint64_t i = 0; i < count; ++i) put_value(type, line, i, r);
    memcpy(expected + r * count * type->bytes, line, count * type->bytes);
  }
  char* mine = in_place ? out + me->rank * count * type->bytes : in;
  fill(me, type, mine, count, me->rank);
  OK(HcclAllGather(mine, out, count, type->type, me->comm, me->stream));
  expect_bytes(me, "AllGather", type, out, me->size * count);

  const uint32_t root = (uint32_t)(count % me->size);
  for (uint64_t i = 0; i < count; ++i) put_value(type, expected, i, root);
  fill(me, type, in, count, me->rank);
  OK(HcclBroadcast(in, count, type->type, root, me->comm, me->stream));
  expect_bytes(me, "Broadcast", type, in, count);

  /* Scatter: part r of root's values. */
  for (uint64_t i = 0; i < count * me->size; ++i) put_value(type, line, i, root);
  memcpy(expected, line + me->rank * count * type->bytes, count * type->bytes);
  fill(me, type, in, count * me->size, me->rank);
  OK(HcclScatter(me->rank == root ? in : NULL, out, count, type->type, root, me->comm, me->stream));
  expect_bytes(me, "Scatter", type, out, count);

  /* AlltoAll: part of this rank from everybody. */
  for (uint32_t r = 0; r < me->size; ++r) {
    for (uint64_t i = 0; i < count * me->size; ++i) put_value(type, line, i, r);
    memcpy(expected + r * count * type->bytes, line + me->rank * count * type->bytes,
           count * type->bytes);
  }
  fill(me, type, in, count * me->size, me->rank);
  char* to = in_place ? in : out;
  OK(HcclAlltoAll(in, count, type->type, to, count, type->type, me->comm, me->stream));
  expect_bytes(me, "AlltoAll", type, to, count * me->size);
}

/* Rank r sends (r + 2 * peer) % 5 elements to each peer, and nothing where that is 0. */
static uint64_t amount(uint32_t from, uint32_t to) { return (from + 2 * to) % 5 * 1001; }

static void uneven(Rank* me, const Type* type) {
  uint64_t sends[MOST_RANKS], send_at[MOST_RANKS], gets[MOST_RANKS], get_at[MOST_RANKS];
  uint64_t matrix[MOST_RANKS * MOST_RANKS], end = 0, got = 0;
  for (uint32_t r = 0; r < me->size; ++r) {
    sends[r] = amount(me->rank, r);
    gets[r] = amount(r, me->rank);
    send_at[r] = end;
    get_at[r] = got;
    end += sends[r];
    got += gets[r];
    for (uint32_t peer = 0; peer < me->size; ++peer) matrix[r * me->size + peer] = amount(r, peer);
  }
  for (uint32_t r = 0; r < me->size; ++r) {
    uint64_t before = 0;
    for (uint32_t peer = 0; peer < me->rank; ++peer) before += amount(r, peer);
    for (uint64_t i = 0; i < before + gets[r]; ++i) put_value(type, line, i, r);
    memcpy(expected + get_at[r] * type->bytes, line + before * type->bytes, gets[r] * type->bytes);
  }
  fill(me, type, in, end, me->rank);
  OK(HcclAlltoAllV(in, sends, send_at, type->type, out, gets, get_at, type->type, me->comm,
                   me->stream));
  expect_bytes(me, "AlltoAllV", type, out, got);
  OK(aclrtMemset(out, got * type->bytes + 64, 0, got * type->bytes));
  OK(HcclAlltoAllVC(in, matrix, type->type, out, type->type, me->comm, me->stream));
  expect_bytes(me, "AlltoAllVC", type, out, got);

  /* AllGatherV: rank r has r * 501 elements, one free place before each. */
  uint64_t counts[MOST_RANKS], displs[MOST_RANKS], at = 0;
  for (uint32_t r = 0; r < me->size; ++r) {
    counts[r] = r * 501;
    displs[r] = at + 1;
    at += counts[r] + 1;
  }
  memset(expected, 0x5a, at * type->bytes);
  for (uint32_t r = 0; r < me->size; ++r) {
    for (uint64_t i = 0; i < counts[r]; ++i) put_value(type, line, i, r);
    memcpy(expected + displs[r] * type->bytes, line, counts[r] * type->bytes);
  }
  OK(aclrtMemset(out, at * type->bytes + 64, 0x5a, at * type->bytes));
  fill(me, type, in, counts[me->rank], me->rank);
  OK(HcclAllGatherV(in, counts[me->rank], out, counts, displs, type->type, me->comm, me->stream));
  expect_bytes(me, "AllGatherV", type, out, at);
}

static void pairs(Rank* me, const Type* type, uint64_t count) {
  const uint32_t next = (me->rank + 1) % me->size, before = (me->rank + me->size - 1) % me->size;
  for (uint64_t i = 0; i < count; ++i) put_value(type, expected, i, before);
  fill(me, type, in, count, me->rank);
  HcclSendRecvItem items[] = {{HCCL_SEND, in, count, type->type, next},
                              {HCCL_RECV, out, count, type->type, before}};
  OK(HcclBatchSendRecv(items, 2, me->comm, me->stream));
  expect_bytes(me, "BatchSendRecv", type, out, count);
  if (me->size == 1) return;
  /* Even ranks send first. */
  OK(aclrtMemset(out, count * type->bytes + 64, 0, count * type->bytes));
  if (me->rank % 2 == 0) {
    OK(HcclSend(in, count, type->type, next, me->comm, me->stream));
    OK(HcclRecv(out, count, type->type, before, me->comm, me->stream));
  } else {
    OK(HcclRecv(out, count, type->type, before, me->comm, me->stream));
    OK(HcclSend(in, count, type->type, next, me->comm, me->stream));
  }
  expect_bytes(me, "Send and Recv", type, out, count);
}

/* Work before and behind an operation on the same stream, nothing waited for in between. */
static void in_stream_order(Rank* me) {
  const Type* type = &kTypes[4];
  const uint64_t count = 65537;
  for (int turn = 0; turn < 20; ++turn) {
    OK(aclrtMemsetAsync(in, count * 4, 0, count * 4, me->stream));
    OK(HcclAllReduce(in, in, count, type->type, HCCL_REDUCE_SUM, me->comm, me->stream));
    for (uint64_t i = 0; i < count; ++i) put_value(type, host, i, me->rank);
    OK(aclrtSynchronizeStream(me->stream));
    OK(aclrtMemcpyAsync(in, count * 4, host, count * 4, ACL_MEMCPY_HOST_TO_DEVICE, me->stream));
    OK(HcclAllReduce(in, out, count, type->type, HCCL_REDUCE_SUM, me->comm, me->stream));
    OK(HcclAllReduce(in, in, count, type->type, HCCL_REDUCE_MAX, me->comm, me->stream));
    OK(aclrtMemcpyAsync(line, count * 4, in, count * 4, ACL_MEMCPY_DEVICE_TO_HOST, me->stream));
    OK(HcclBarrier(me->comm, me->stream));
    OK(aclrtSynchronizeStream(me->stream));
    char* reduced = malloc(count * 4);
    for (uint64_t i = 0; i < count; ++i) {
      put_reduced(type, HCCL_REDUCE_MAX, reduced, expected, i, all_ranks, me->size);
    }
    CHECK(memcmp(reduced, line, count * 4) == 0);
    for (uint64_t i = 0; i < count; ++i) {
      put_reduced(type, HCCL_REDUCE_SUM, reduced, expected, i, all_ranks, me->size);
    }
    memcpy(expected, reduced, count * 4);
    expect_bytes(me, "AllReduce between copies", type, out, count);
    free(reduced);
  }
}

static void nothing(Rank* me) {
  const uint64_t none[MOST_RANKS] = {0};
  OK(HcclAllReduce(in, out, 0, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, me->comm, me->stream));
  OK(HcclAllGather(in, out, 0, HCCL_DATA_TYPE_FP32, me->comm, me->stream));
  OK(HcclBroadcast(in, 0, HCCL_DATA_TYPE_FP32, 0, me->comm, me->stream));
  OK(HcclReduceScatter(in, out, 0, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, me->comm, me->stream));
  OK(HcclScatter(in, out, 0, HCCL_DATA_TYPE_FP32, 0, me->comm, me->stream));
  OK(HcclAlltoAllV(in, none, none, HCCL_DATA_TYPE_FP32, out, none, none, HCCL_DATA_TYPE_FP32,
                   me->comm, me->stream));
  OK(HcclBarrier(me->comm, me->stream));
  OK(aclrtSynchronizeStream(me->stream));
}

static void work(Rank* me) {
  const size_t room = (100003 + 64) * 8 * (size_t)me->size + 4096;
  for (uint32_t r = 0; r < me->size; ++r) all_ranks[r] = r;
  host = malloc(room), expected = malloc(room), line = malloc(room);
  begin(me);
  in = device_memory(me, room), out = device_memory(me, room);
  uint32_t number = 99;
  OK(HcclGetRankId(me->comm, &number));
  CHECK(number == me->rank);
  OK(HcclGetRankSize(me->comm, &number));
  CHECK(number == me->size);
  nothing(me);
  for (size_t t = 0; t < TYPES; ++t) {
    for (size_t c = 0; c < COUNTS; ++c) {
      /* The large count with four types only: the reference is slow. */
      if (kCounts[c] > 1000 && t != 3 && t != 4 && t != 5 && t != 11) continue;
      for (size_t o = 0; o < 4; ++o) {
        if (kCounts[c] > 1000 && o > 0) continue;
        reductions(me, &kTypes[t], kOps[o], kCounts[c], (c + o) % 2 == 0);
      }
      gathers(me, &kTypes[t], kCounts[c], c % 2 == 0);
      pairs(me, &kTypes[t], kCounts[c]);
    }
    uneven(me, &kTypes[t]);
    reduce_scatter_v(me, &kTypes[t]);
  }
  in_stream_order(me);
  nothing(me);
  OK(aclrtFree(in));
  OK(aclrtFree(out));
  end(me);
}

int main(int argc, char** argv) {
  const int failed = run_ranks(argc > 1 ? (uint32_t)atoi(argv[1]) : 2, work, -1);
  if (!failed) puts("all equal");
  return failed;
}
