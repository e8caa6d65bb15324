// SPDX-License-Identifier: Apache-2.0
// Layouts of a plan other than the plain one, above all blocked16 (NCHW16c): how many elements a
// tensor has in memory, and the host kernel that converts between layouts.
#pragma once

#include <cstdint>

#include "ops/kernel.h"
#include "ops/schema.h"

namespace anynpu::ops {

constexpr int64_t kBlock = 16;  // channels of one block of Layout::blocked16

// The layout of operand `index` of a plan, whose list may be shorter.
inline Layout layout_at(const std::vector<Layout>& layouts, size_t index) {
  return index < layouts.size() ? layouts[index] : Layout::plain;
}

// Elements a tensor takes in memory: channels rounded up to whole blocks when blocked.
int64_t stored_elements(const Shape& shape, Layout layout);
size_t stored_bytes(DType dtype, const Shape& shape, Layout layout);
// Blocked layouts hold f32, f16 and bf16 tensors of at least 3 dimensions (N, C, spatial...), and
// their quantised forms.
bool can_block(const Operand& operand);

// Converts a tensor of elements of 1, 2 or 4 bytes on the host: plain <-> blocked16, plain <->
// channels_last. Run over the thread pool.
std::unique_ptr<KernelPlan> plan_reorder(DType dtype, const Shape& shape, Layout from, Layout to);

}  // namespace anynpu::ops
