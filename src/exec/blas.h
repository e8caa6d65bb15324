// SPDX-License-Identifier: Apache-2.0
// GEMM: c = alpha * op(a) * op(b) + beta * c, with alpha and beta read when it runs. Plans are
// cached by device, shape, types and factors (LRU). Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "tensor/dtype.h"

namespace anynpu::device {
class Device;
class Queue;
}  // namespace anynpu::device

namespace anynpu::exec {

enum class Trans : int32_t { no = 0, yes = 1, nz = 2, nz_yes = 3 };

struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  Trans a = Trans::no, b = Trans::no, c = Trans::no;
  DType a_type = DType::f32, b_type = DType::f32, c_type = DType::f32;
  int64_t lda = -1, ldb = -1, ldc = -1;  // elements from row to row; -1 = no gap
  int64_t b_step = 1, c_step = 1;        // elements from one to the next (vectors)
};

// Checks the types (equal floats, fp16 to fp32, int8 to int32 or fp32) and that leading dimensions
// are at least the width of a row.
Status check_gemm(const Gemm& gemm);
// Type of alpha and beta: that of c, except that fp32 results of int8 have int32 factors' width.
DType factor_type(const Gemm& gemm);
// The bytes that the matrices span.
struct GemmBytes {
  size_t a, b, c;
};
GemmBytes bytes_of(const Gemm& gemm);

struct GemmPointers {
  const void* alpha = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* beta = nullptr;
  void* c = nullptr;
};

// Inside a task of a stream of `device`, whose queue this is, with the kernels of that device.
// Memory must stay until the queue is done.
Status run_gemm(const Gemm& gemm, const GemmPointers& at,
                const std::shared_ptr<device::Device>& device, device::Queue& queue);

// Drops the plans, and with them their device memory.
void clear_gemm_plans();

}  // namespace anynpu::exec
