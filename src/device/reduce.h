// SPDX-License-Identifier: Apache-2.0
// Reduction of one block of memory into another, in stream order: dst[i] = op(dst[i], src[i]).
// 16-bit floats are computed in 32 bits and rounded once; integer sums wrap around. Thread-safe.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "device/stream.h"

namespace anynpu::device {

enum class ReduceKind : int32_t { sum = 10, max = 11, min = 12, equal = 13 };  // equal: 1 or 0
enum class ReduceType : uint8_t { f32, f16, bf16, s8, s16, s32 };

size_t bytes_of(ReduceType type);

struct Reduce {
  void* to = nullptr;
  const void* from = nullptr;
  uint64_t bytes = 0;  // a multiple of the type's size
  ReduceKind kind = ReduceKind::sum;
  ReduceType type = ReduceType::f32;
};
Status reduce_async(const Reduce& request, Stream& stream);

}  // namespace anynpu::device
