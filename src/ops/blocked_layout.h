// SPDX-License-Identifier: Apache-2.0
// The blocked layout of a plan (NCHW16c): how many elements a tensor has in it, and the kernel that
// converts between plain and blocked.
#pragma once

#include <cstdint>

#include "ops/kernel.h"
#include "ops/schema.h"

namespace anynpu::ops {

constexpr int64_t kBlock = 16;  // channels of one block of Layout::blocked16

// Of operand `index` of a plan, whose list may be shorter.
inline Layout layout_at(const std::vector<Layout>& layouts, size_t index) {
  return index < layouts.size() ? layouts[index] : Layout::plain;
}

// Elements a tensor takes in memory: channels rounded up to whole blocks when blocked.
int64_t stored_elements(const Shape& shape, Layout layout);
size_t stored_bytes(DType dtype, const Shape& shape, Layout layout);
// Blocked layouts hold f32, f16 and bf16 tensors of at least 3 dimensions (N, C, spatial...), and
// what such tensors were quantised to.
bool can_block(const Operand& operand);

// Converts a tensor of elements of 1, 2 or 4 bytes: plain <-> blocked16. Run over the thread pool.
std::unique_ptr<KernelPlan> plan_reorder(DType dtype, const Shape& shape, Layout from, Layout to);

}  // namespace anynpu::ops
