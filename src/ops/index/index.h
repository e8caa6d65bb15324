// SPDX-License-Identifier: Apache-2.0
// Operators that move elements to or from places that other tensors name, one register function per
// file. Indices are checked in every run: one outside the tensor is a failure, never a wild access.
#pragma once

#include "ops/late.h"
#include "ops/schema.h"

namespace anynpu::ops {

class Registry;

void register_gather(Registry& registry);
void register_scatter(Registry& registry);
void register_tensor_scatter(Registry& registry);
void register_select(Registry& registry);
void register_top_k(Registry& registry);
void register_one_hot(Registry& registry);
void register_unique(Registry& registry);

constexpr DTypeSet kIndices{DType::i32, DType::i64};

// Index `at` of an int32 or int64 tensor.
inline int64_t index_at(DType type, const std::byte* base, int64_t at) {
  return type == DType::i32 ? reinterpret_cast<const int32_t*>(base)[at]
                            : reinterpret_cast<const int64_t*>(base)[at];
}

Status index_failure(const std::string& label, int64_t index, int64_t extent);

}  // namespace anynpu::ops
