// SPDX-License-Identifier: Apache-2.0
// Element types and reduction operations of collectives, by the numbers of HCCL, and the reduction
// of several arrays into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace anynpu::collective {

enum class Element : uint8_t {
  i8 = 0,
  i16 = 1,
  i32 = 2,
  f16 = 3,
  f32 = 4,
  i64 = 5,
  u64 = 6,
  u8 = 7,
  u16 = 8,
  u32 = 9,
  f64 = 10,
  bf16 = 11,
  i128 = 12,
  hif8 = 14,
  f8e4m3 = 15,
  f8e5m2 = 16,
  f8e8m0 = 17,
};
enum class ReduceOp : uint8_t { sum = 0, prod = 1, max = 2, min = 3 };

// Fail for unknown numbers.
Result<Element> element_of(int64_t number);
Result<ReduceOp> reduce_op_of(int64_t number);
// Whether the type can be reduced: all except 128-bit and 8-bit float types.
Status check_reducible(Element element);

size_t bytes_of(Element element);
std::string_view name_of(Element element);
std::string_view name_of(ReduceOp reduce_op);

// out[i] = in[0][i] op in[1][i] op ..., always in this order, so that results are bitwise equal on
// every rank and in every run. 16-bit floats are reduced in 32 bits and rounded once; integers wrap
// around; NaN wins in max and min. `out` may be one of the inputs. All are aligned to elements.
void reduce_elements(Element element, ReduceOp reduce_op, void* out,
                     std::span<const void* const> in, size_t count);

}  // namespace anynpu::collective
