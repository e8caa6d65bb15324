// SPDX-License-Identifier: Apache-2.0
// The functions of npurt.h that ask the cluster.
#include "call.h"

void sync(void) { npurt_call(service_sync, 0, 0, 0, 0, 0, 0); }

void exit(int code) {
  npurt_call(service_exit, (uint32_t)code, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

void abort(void) {
  npurt_call(service_abort, 0, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

void npurt_assert_failed(const char* expression, const char* file, int line, const char* function) {
  npurt_call(service_assert_, (uint32_t)expression, (uint32_t)file, (uint32_t)line,
             (uint32_t)function, 0, 0);
  __builtin_unreachable();
}

int printf(const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int written = (int)npurt_call(service_print, (uint32_t)format, (uint32_t)list, 0, 0, 0, 0);
  va_end(list);
  return written;
}

int snprintf(char* to, size_t bytes, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int written = (int)npurt_call(service_print_to, (uint32_t)to, bytes, (uint32_t)format,
                                      (uint32_t)list, 0, 0);
  va_end(list);
  return written;
}

int get_npu_idx(void) { return 0; }
int get_npu_nr(void) { return 1; }
uint64_t npurt_cycles(void) { return npurt_call(service_clock, 0, 0, 0, 0, 0, 0); }

npurtError_t npurt_memcpy(void* to, const void* from, int bytes) {
  return (npurtError_t)npurt_call(service_copy, (uint32_t)to, (uint32_t)from, (uint32_t)bytes, 0, 0,
                                  0);
}

npurtError_t npurt_memcpy_rows(void* to, const void* from, const cpy_config_t* config) {
  return (npurtError_t)npurt_call(service_copy_rows, (uint32_t)to, (uint32_t)from, (uint32_t)config,
                                  0, 0, 0);
}

#define VECTOR2(number, name)                                                             \
  void npu_##name##_fp16(__fp16* to, const __fp16* a, const __fp16* b, int count) {       \
    npurt_call(service_vector, number, 0, (uint32_t)to, (uint32_t)a, (uint32_t)b, count); \
  }                                                                                       \
  void npu_##name##_fp32(float* to, const float* a, const float* b, int count) {          \
    npurt_call(service_vector, number, 1, (uint32_t)to, (uint32_t)a, (uint32_t)b, count); \
  }
#define VECTOR1(number, name)                                                             \
  void npu_##name##_fp16(__fp16* to, const __fp16* a, int count) {                        \
    npurt_call(service_vector, number, 0, (uint32_t)to, (uint32_t)a, (uint32_t)a, count); \
  }                                                                                       \
  void npu_##name##_fp32(float* to, const float* a, int count) {                          \
    npurt_call(service_vector, number, 1, (uint32_t)to, (uint32_t)a, (uint32_t)a, count); \
  }
VECTOR2(0, vadd)
VECTOR2(1, vsub)
VECTOR2(2, vmul)
VECTOR2(3, vmax)
VECTOR1(4, vrelu)
VECTOR1(5, vexp)

void npurt_mmul(const npu_mmul_t* what) {
  npurt_call(service_matmul, (uint32_t)what, 0, 0, 0, 0, 0);
}
void npurt_conv2d(const npu_conv2d_t* what) {
  npurt_call(service_conv2d, (uint32_t)what, 0, 0, 0, 0, 0);
}
