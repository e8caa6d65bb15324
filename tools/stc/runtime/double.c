// SPDX-License-Identifier: Apache-2.0
// Doubles, and floats to and from 64-bit integers: names the compiler calls.
#include "call.h"

enum {
#define X(name, number) op_##name = number,
#include "npc/double_ops.def"
#undef X
};

union wide {
  double value;
  int64_t integer;
  uint64_t bits;
};
union word {
  float value;
  int32_t integer;
  uint32_t bits;
};

static uint64_t ask(int op, uint64_t a, uint64_t b) {
  return npurt_call(service_double_op, op, (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b,
                    (uint32_t)(b >> 32), 0);
}
static double ask2(int op, double a, double b) {
  const union wide x = {.value = a}, y = {.value = b};
  const union wide result = {.bits = ask(op, x.bits, y.bits)};
  return result.value;
}
static double to_double(int op, uint64_t a) {
  const union wide result = {.bits = ask(op, a, 0)};
  return result.value;
}
static uint64_t from_double(int op, double a) {
  const union wide x = {.value = a};
  return ask(op, x.bits, 0);
}
static float to_float(int op, uint64_t a) {
  const union word result = {.bits = (uint32_t)ask(op, a, 0)};
  return result.value;
}
static uint64_t from_float(int op, float a) {
  const union word x = {.value = a};
  return ask(op, x.bits, 0);
}

double __adddf3(double a, double b) { return ask2(op_add, a, b); }
double __subdf3(double a, double b) { return ask2(op_sub, a, b); }
double __muldf3(double a, double b) { return ask2(op_mul, a, b); }
double __divdf3(double a, double b) { return ask2(op_div, a, b); }
double __negdf2(double a) {
  union wide x = {.value = a};
  x.bits ^= 1ull << 63;
  return x.value;
}

static int compare(double a, double b) {
  const union wide x = {.value = a}, y = {.value = b};
  return (int)ask(op_compare, x.bits, y.bits);
}
int __unorddf2(double a, double b) { return compare(a, b) == 2; }
int __eqdf2(double a, double b) { return compare(a, b); }
int __nedf2(double a, double b) { return compare(a, b); }
int __ltdf2(double a, double b) { return compare(a, b); }
int __ledf2(double a, double b) { return compare(a, b); }
int __gtdf2(double a, double b) {
  const int order = compare(a, b);
  return order == 2 ? -1 : order;
}
int __gedf2(double a, double b) { return __gtdf2(a, b); }

double __floatsidf(int a) { return to_double(op_from_i32, (uint32_t)a); }
double __floatunsidf(unsigned a) { return to_double(op_from_u32, a); }
double __floatdidf(int64_t a) { return to_double(op_from_i64, (uint64_t)a); }
double __floatundidf(uint64_t a) { return to_double(op_from_u64, a); }
int __fixdfsi(double a) { return (int)from_double(op_to_i32, a); }
unsigned __fixunsdfsi(double a) { return (unsigned)from_double(op_to_u32, a); }
int64_t __fixdfdi(double a) { return (int64_t)from_double(op_to_i64, a); }
uint64_t __fixunsdfdi(double a) { return from_double(op_to_u64, a); }
double __extendsfdf2(float a) {
  const union word x = {.value = a};
  return to_double(op_from_f32, x.bits);
}
float __truncdfsf2(double a) {
  const union wide x = {.value = a};
  return to_float(op_to_f32, x.bits);
}
double __extendhfdf2(_Float16 a) {
  union {
    _Float16 value;
    uint16_t bits;
  } x = {.value = a};
  return to_double(op_from_f16, x.bits);
}
_Float16 __truncdfhf2(double a) {
  const union wide x = {.value = a};
  union {
    uint16_t bits;
    _Float16 value;
  } y = {.bits = (uint16_t)ask(op_to_f16, x.bits, 0)};
  return y.value;
}
float __floatdisf(int64_t a) { return to_float(op_f32_from_i64, (uint64_t)a); }
float __floatundisf(uint64_t a) { return to_float(op_f32_from_u64, a); }
int64_t __fixsfdi(float a) { return (int64_t)from_float(op_f32_to_i64, a); }
uint64_t __fixunssfdi(float a) { return from_float(op_f32_to_u64, a); }
