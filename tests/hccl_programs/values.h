/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of every type: what rank r has at place i, and what a reduction of all ranks gives,
   computed one rank after the other. 16-bit floats are computed in 32 bits and rounded once. */
#ifndef TESTS_HCCL_VALUES_H_
#define TESTS_HCCL_VALUES_H_

#include <stdint.h>
#include <string.h>

#include "hccl/hccl_types.h"

typedef struct {
  HcclDataType type;
  size_t bytes;
  const char* name;
} Type;
static const Type kTypes[] = {
    {HCCL_DATA_TYPE_INT8, 1, "int8"},     {HCCL_DATA_TYPE_INT16, 2, "int16"},
    {HCCL_DATA_TYPE_INT32, 4, "int32"},   {HCCL_DATA_TYPE_FP16, 2, "fp16"},
    {HCCL_DATA_TYPE_FP32, 4, "fp32"},     {HCCL_DATA_TYPE_INT64, 8, "int64"},
    {HCCL_DATA_TYPE_UINT64, 8, "uint64"}, {HCCL_DATA_TYPE_UINT8, 1, "uint8"},
    {HCCL_DATA_TYPE_UINT16, 2, "uint16"}, {HCCL_DATA_TYPE_UINT32, 4, "uint32"},
    {HCCL_DATA_TYPE_FP64, 8, "fp64"},     {HCCL_DATA_TYPE_BFP16, 2, "bf16"},
};
#define TYPES (sizeof kTypes / sizeof kTypes[0])

static inline float from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}
static inline uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
/* The compiler's own conversions. */
static inline float from_f16(uint16_t bits) {
  _Float16 half;
  memcpy(&half, &bits, 2);
  return (float)half;
}
static inline uint16_t to_f16(float value) {
  _Float16 half = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &half, 2);
  return bits;
}

/* Small numbers of both signs, different for each rank and place. */
static inline void put_value(const Type* type, void* at, uint64_t i, uint32_t rank) {
  const int64_t whole = (int64_t)((i * 7 + rank * 13 + 3) % 23) - 9;
  const double real = (double)whole * 0.37 + 0.01 * (double)(rank + 1);
  char* to = (char*)at + i * type->bytes;
  switch (type->type) {
    case HCCL_DATA_TYPE_FP32: {
      float v = (float)real;
      memcpy(to, &v, 4);
      return;
    }
    case HCCL_DATA_TYPE_FP64:
      memcpy(to, &real, 8);
      return;
    case HCCL_DATA_TYPE_FP16: {
      uint16_t v = to_f16((float)real);
      memcpy(to, &v, 2);
      return;
    }
    case HCCL_DATA_TYPE_BFP16: {
      uint16_t v = to_bf16((float)real);
      memcpy(to, &v, 2);
      return;
    }
    default:
      memcpy(to, &whole, type->bytes); /* little-endian */
  }
}

#define COMBINE(T, a, b, op)                            \
  ((op) == HCCL_REDUCE_SUM    ? (T)((a) + (b))          \
   : (op) == HCCL_REDUCE_PROD ? (T)((a) * (b))          \
   : (op) == HCCL_REDUCE_MAX  ? ((a) > (b) ? (a) : (b)) \
                              : ((a) < (b) ? (a) : (b)))
#define REDUCE_AS(T)                                     \
  do {                                                   \
    T sum, next;                                         \
    put_value(type, line, i, ranks[0]);                  \
    memcpy(&sum, line + i * sizeof(T), sizeof(T));       \
    for (uint32_t r = 1; r < count; ++r) {               \
      put_value(type, line, i, ranks[r]);                \
      memcpy(&next, line + i * sizeof(T), sizeof(T));    \
      sum = COMBINE(T, sum, next, op);                   \
    }                                                    \
    memcpy((char*)out + i * sizeof(T), &sum, sizeof(T)); \
  } while (0)
#define REDUCE_HALF(widen, narrow)         \
  do {                                     \
    uint16_t bits;                         \
    put_value(type, line, i, ranks[0]);    \
    memcpy(&bits, line + i * 2, 2);        \
    float sum = widen(bits);               \
    for (uint32_t r = 1; r < count; ++r) { \
      put_value(type, line, i, ranks[r]);  \
      memcpy(&bits, line + i * 2, 2);      \
      const float next = widen(bits);      \
      sum = COMBINE(float, sum, next, op); \
    }                                      \
    bits = narrow(sum);                    \
    memcpy((char*)out + i * 2, &bits, 2);  \
  } while (0)

/* What reducing place i over `ranks` gives; `line` is scratch as large as `out`. */
static inline void put_reduced(const Type* type, HcclReduceOp op, void* out, char* line, uint64_t i,
                               const uint32_t* ranks, uint32_t count) {
  switch (type->type) {
    case HCCL_DATA_TYPE_INT8:
      REDUCE_AS(int8_t);
      break;
    case HCCL_DATA_TYPE_INT16:
      REDUCE_AS(int16_t);
      break;
    case HCCL_DATA_TYPE_INT32:
      REDUCE_AS(int32_t);
      break;
    case HCCL_DATA_TYPE_INT64:
      REDUCE_AS(int64_t);
      break;
    case HCCL_DATA_TYPE_UINT8:
      REDUCE_AS(uint8_t);
      break;
    case HCCL_DATA_TYPE_UINT16:
      REDUCE_AS(uint16_t);
      break;
    case HCCL_DATA_TYPE_UINT32:
      REDUCE_AS(uint32_t);
      break;
    case HCCL_DATA_TYPE_UINT64:
      REDUCE_AS(uint64_t);
      break;
    case HCCL_DATA_TYPE_FP32:
      REDUCE_AS(float);
      break;
    case HCCL_DATA_TYPE_FP64:
      REDUCE_AS(double);
      break;
    case HCCL_DATA_TYPE_FP16:
      REDUCE_HALF(from_f16, to_f16);
      break;
    case HCCL_DATA_TYPE_BFP16:
      REDUCE_HALF(from_bf16, to_bf16);
      break;
    default:
      break;
  }
}

#endif
