/* SPDX-License-Identifier: Apache-2.0
 * The device run-time of NPC kernels, for C and C++. stc-clang and stc-clang++ include it by
 * themselves; link with libnpurt_hld.a. Host programs do not include it. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Half precision: sixteen bits, arithmetic included. */
#define __fp16 _Float16

/* Placement. Data without a word lies in global memory, one copy for the cluster. */
#define __global__ __attribute__((used)) /* a kernel */
#define __device__                       /* a device function, or data in global memory */
#define __host__
#define __mutable__ __attribute__((section(".mutable"))) /* global memory that kernels write */
#define __shared__ static __attribute__((used, section(".shared"), aligned(64)))
#define __local__ static __attribute__((used, section(".local"), aligned(64)))
#define __imb__ static __attribute__((used, section(".imb"), aligned(64)))

#ifdef __cplusplus
#define NPURT_C extern "C"
#else
#define NPURT_C extern
#endif

/* CoreID: 0 to CoreNum - 1. CoreNum: cores of this launch. Read-only. */
static inline __attribute__((always_inline, unused)) int npurt_core_id(void) {
  int value;
  __asm__("csrr %0, 0xf14" : "=r"(value));
  return value;
}
static inline __attribute__((always_inline, unused)) int npurt_core_num(void) {
  int value;
  __asm__("csrr %0, 0xfc0" : "=r"(value));
  return value;
}
#define CoreID (npurt_core_id())
#define CoreNum (npurt_core_num())

NPURT_C void sync(void); /* waits for all cores of the launch */
NPURT_C int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
NPURT_C int snprintf(char* to, size_t bytes, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
NPURT_C void exit(int code) __attribute__((noreturn)); /* ends this core */
NPURT_C void abort(void) __attribute__((noreturn));    /* code 128 */
NPURT_C void npurt_assert_failed(const char* expression, const char* file, int line,
                                 const char* function) __attribute__((noreturn));
#ifdef NDEBUG
#define assert(expression) ((void)0)
#else
#define assert(expression) \
  ((expression) ? (void)0 : npurt_assert_failed(#expression, __FILE__, __LINE__, __func__))
#endif
NPURT_C int get_npu_idx(void);       /* which card this cluster belongs to */
NPURT_C int get_npu_nr(void);        /* how many cards there are */
NPURT_C uint64_t npurt_cycles(void); /* modelled cycles of this core since the launch */

/* Copies between memories. Allowed: within local, shared and global memory (high memory included),
 * local <-> shared, local <-> global below 3 GiB, shared <-> global. */
typedef enum {
  npurtSuccess = 0,
  npurtErrorInvalidDmaId = 1,
  npurtErrorInvalidDmaChannel = 2,
  npurtErrorInvalidDmaRow = 3,
  npurtErrorInvalidDmaCol = 4,
  npurtErrorInvalidDmaStride = 5,
  npurtErrorInvalidDmaSize = 6,
  npurtErrorInvalidDmaState = 7,
  npurtErrorDmaQueueFull = 8,
  npurtErrorInvalidDmaAddress = 9,
  npurtErrorInvalidDmaTransferType = 10,
  npurtErrorDmaBusy = 11,
  npurtErrorDmaFailure = 12,
  npurtErrorMemcpyLength = 13,
  npurtErrorMemcpyAddress = 14,
  npurtErrorMemcpyRows = 15,
  npurtErrorMemcpyCols = 16,
  npurtErrorMemcpyStrides = 17,
  npurtErrorMemcpyDtype = 18,
  npurtErrorMemcpyDestCore = 19,
  npurtErrorMemcpySize = 20,
  npurtErrorMemcpyOverflow = 21,
  npurtErrorMemcpyNotAligned = 22
} npurtError_t;

enum { DTYPE_BYTE_1 = 0, DTYPE_BYTE_2 = 1 };

/* rows x cols elements. stride_cols is the distance between rows on the global or shared side (on
 * the source side when both are of one kind), in elements; 0 means cols. dest_core: for copies
 * within local memory, the core whose memory is written; -1 or CoreID for one's own. */
typedef struct {
  int rows, cols, stride_cols, dtype, dest_core;
} cpy_config_t;

NPURT_C npurtError_t npurt_memcpy(void* to, const void* from, int bytes);
NPURT_C npurtError_t npurt_memcpy_rows(void* to, const void* from, const cpy_config_t* config);

#ifdef __cplusplus
static inline npurtError_t memcpy(void* to, const void* from, int bytes) {
  return npurt_memcpy(to, from, bytes);
}
static inline npurtError_t memcpy(void* to, const void* from, cpy_config_t config) {
  return npurt_memcpy_rows(to, from, &config);
}
#else
static inline __attribute__((unused)) npurtError_t npurt_memcpy_config(void* to, const void* from,
                                                                       cpy_config_t config) {
  return npurt_memcpy_rows(to, from, &config);
}
#define memcpy(to, from, what) \
  _Generic((what), cpy_config_t : npurt_memcpy_config, default : npurt_memcpy)(to, from, what)
#endif

/* Between cards. There is one card here, and the public documents do not show the parameters:
 * programs that call these do not compile. */
#ifdef __cplusplus
#define NPURT_BETWEEN_CARDS(name) extern "C" int name(...)
#else
#define NPURT_BETWEEN_CARDS(name) extern int name()
#endif
#define NPURT_ONE_CARD \
  __attribute__((unavailable("it works between cards, and this machine has one simulated card")))
NPURT_BETWEEN_CARDS(memcpy_p2p) NPURT_ONE_CARD;
NPURT_BETWEEN_CARDS(memcpy_p2p_wait) NPURT_ONE_CARD;
NPURT_BETWEEN_CARDS(wait_flag) NPURT_ONE_CARD;

/* Vector unit (counted as VME): element by element over arrays of count elements. */
#define NPURT_VECTOR2(name)                                                                \
  NPURT_C void npu_##name##_fp16(__fp16* to, const __fp16* a, const __fp16* b, int count); \
  NPURT_C void npu_##name##_fp32(float* to, const float* a, const float* b, int count);
#define NPURT_VECTOR1(name)                                               \
  NPURT_C void npu_##name##_fp16(__fp16* to, const __fp16* a, int count); \
  NPURT_C void npu_##name##_fp32(float* to, const float* a, int count);
NPURT_VECTOR2(vadd)
NPURT_VECTOR2(vsub)
NPURT_VECTOR2(vmul)
NPURT_VECTOR2(vmax)
NPURT_VECTOR1(vrelu)
NPURT_VECTOR1(vexp)

/* Matrix unit (counted as MME): fp16 inputs, fp32 accumulation and result.
 * mmul: to[m][n] = a[m][k] * b[k][n]. conv2d: input[ci][h][w], weight[co][ci][kh][kw],
 * to[co][(h + 2 pad - kh) / stride + 1][(w + 2 pad - kw) / stride + 1]. */
typedef struct {
  float* to;
  const __fp16* a;
  const __fp16* b;
  int m, k, n;
} npu_mmul_t;
typedef struct {
  float* to;
  const __fp16* input;
  const __fp16* weight;
  int ci, h, w, co, kh, kw, stride, pad;
} npu_conv2d_t;
NPURT_C void npurt_mmul(const npu_mmul_t* what);
NPURT_C void npurt_conv2d(const npu_conv2d_t* what);

static inline __attribute__((unused)) void npu_mmul(float* to, const __fp16* a, const __fp16* b,
                                                    int m, int k, int n) {
  npu_mmul_t what = {to, a, b, m, k, n};
  npurt_mmul(&what);
}
static inline __attribute__((unused)) void npu_conv2d(npu_conv2d_t what) { npurt_conv2d(&what); }

#ifdef __cplusplus
#define NPURT_OVERLOAD2(name)                                                              \
  static inline void npu_##name(__fp16* to, const __fp16* a, const __fp16* b, int count) { \
    npu_##name##_fp16(to, a, b, count);                                                    \
  }                                                                                        \
  static inline void npu_##name(float* to, const float* a, const float* b, int count) {    \
    npu_##name##_fp32(to, a, b, count);                                                    \
  }
#define NPURT_OVERLOAD1(name)                                             \
  static inline void npu_##name(__fp16* to, const __fp16* a, int count) { \
    npu_##name##_fp16(to, a, count);                                      \
  }                                                                       \
  static inline void npu_##name(float* to, const float* a, int count) {   \
    npu_##name##_fp32(to, a, count);                                      \
  }
NPURT_OVERLOAD2(vadd)
NPURT_OVERLOAD2(vsub)
NPURT_OVERLOAD2(vmul)
NPURT_OVERLOAD2(vmax)
NPURT_OVERLOAD1(vrelu)
NPURT_OVERLOAD1(vexp)
#else
#define NPURT_PICK(name, to) _Generic((to), __fp16* : name##_fp16, float* : name##_fp32)
#define npu_vadd(to, a, b, count) NPURT_PICK(npu_vadd, to)(to, a, b, count)
#define npu_vsub(to, a, b, count) NPURT_PICK(npu_vsub, to)(to, a, b, count)
#define npu_vmul(to, a, b, count) NPURT_PICK(npu_vmul, to)(to, a, b, count)
#define npu_vmax(to, a, b, count) NPURT_PICK(npu_vmax, to)(to, a, b, count)
#define npu_vrelu(to, a, count) NPURT_PICK(npu_vrelu, to)(to, a, count)
#define npu_vexp(to, a, count) NPURT_PICK(npu_vexp, to)(to, a, count)
#endif
