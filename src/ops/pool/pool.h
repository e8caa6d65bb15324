// SPDX-License-Identifier: Apache-2.0
// Pooling: the problem description that all kernels of the family share.
#pragma once

#include <memory>

#include "ops/kernel.h"
#include "ops/simd/isa.h"
#include "ops/window.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::pool {

enum class PoolKind { max, average };

struct PoolShape {
  PoolKind kind = PoolKind::max;
  int64_t batch = 0, channels = 0;
  bool count_pads = false;  // count_include_pad
  Window window;            // of the whole input for the global forms
};

// MaxPool, AveragePool and their global forms; extents of the input may be -1.
Result<PoolShape> pool_shape_of(const OpContext& context);

Result<std::unique_ptr<Kernel>> create_pool_reference(const OpContext& context);

template <Isa isa>
Status can_run_blocked_pool(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_blocked_pool(const OpContext& context);

// Inputs in plain layout, row by row (plain_layout.cpp).
template <Isa isa>
Status can_run_plain_pool(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_plain_pool(const OpContext& context);

// Bytes in blocks of channels (bytes.cpp).
Status can_run_byte_pool(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_byte_pool(const OpContext& context);

void add_pool_schemas(Registry& registry);
void register_lp_pool(Registry& registry);
void register_max_unpool(Registry& registry);

}  // namespace anynpu::ops::pool
