// SPDX-License-Identifier: Apache-2.0
// FusedAttention (domain "anynpu", made by the compiler): for each head h
//   Y[:, h] = softmax(scale * Q[:, h] * K[:, h]^T + mask) * V[:, h]
// Q is batch x rows x (heads * size), K and V are batch x columns x (heads * their sizes): heads
// lie beside each other as a linear layer makes them, so no tensor is transposed. The mask
// broadcasts to batch x heads x rows x columns, and may have a type of its own.
#pragma once

#include <array>
#include <memory>

#include "ops/cpu/isa.h"
#include "ops/kernel.h"

namespace anynpu::ops {

struct AttentionShape {
  int64_t batch = 0, heads = 1, rows = 0, columns = 0;
  int64_t size = 0;        // of a head in Q and K
  int64_t value_size = 0;  // of a head in V and Y
  float scale = 1;
  bool has_mask = false;
  std::array<int64_t, 4> mask_steps{};  // in elements; 0 = repeated

  int64_t mask_offset(int64_t b, int64_t h, int64_t row) const {
    return b * mask_steps[0] + h * mask_steps[1] + row * mask_steps[2];
  }
};

// What the tiled kernels take; the mask may be of another of them than the rest.
constexpr DTypeSet kTiledTypes{DType::f32, DType::f16, DType::bf16};

// All extents known.
Result<AttentionShape> attention_shape_of(const OpContext& context);

class Registry;

void register_rotary(Registry& registry);
void register_linear_attention(Registry& registry);

template <Isa isa>
Status can_run_tiled_attention(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_tiled_attention(const OpContext& context);

}  // namespace anynpu::ops
