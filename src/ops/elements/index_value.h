// SPDX-License-Identifier: Apache-2.0
// Indices that are tensor values. They are checked in every run: an out-of-range index is an error,
// never a wild access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ops/schema.h"

namespace anynpu::ops {

constexpr DTypeSet kIndices{DType::i32, DType::i64};

// Index `at` of an int32 or int64 tensor.
inline int64_t index_at(DType type, const std::byte* base, int64_t at) {
  return type == DType::i32 ? reinterpret_cast<const int32_t*>(base)[at]
                            : reinterpret_cast<const int64_t*>(base)[at];
}

Status index_failure(const std::string& label, int64_t index, int64_t extent);

}  // namespace anynpu::ops
