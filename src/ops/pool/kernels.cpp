// SPDX-License-Identifier: Apache-2.0
// The kernels of pooling in order: the first that takes a case runs it.
#include "ops/families.h"
#include "ops/pool/pool.h"
#include "ops/registry.h"
#include "ops/widen.h"

namespace anynpu::ops::pool {

namespace {

constexpr DTypeSet kF32{DType::f32};

const KernelLine kPool[] = {
    // Inputs that come plain stay plain: row by row.
    {"pool_plain_avx512", kF32, can_run_plain_pool<Isa::avx512>, create_plain_pool<Isa::avx512>},
    {"pool_plain_avx2", kF32, can_run_plain_pool<Isa::avx2>, create_plain_pool<Isa::avx2>},
    // Blocked inputs, as convolutions leave them: 16 channels at a time.
    {"pool_avx512",
     {DType::f32, DType::bf16},
     can_run_blocked_pool<Isa::avx512>,
     create_blocked_pool<Isa::avx512>},
    {"pool_avx2", kF32, can_run_blocked_pool<Isa::avx2>, create_blocked_pool<Isa::avx2>},
    {"pool_baseline", kF32, can_run_blocked_pool<Isa::baseline>,
     create_blocked_pool<Isa::baseline>},
    // Short floats through the float32 kernels above.
    {"widened", kShortFloats, can_run_widened, create_widened},
    // Bytes of quantised networks.
    {"pool_bytes", {DType::i8, DType::u8}, can_run_byte_pool, create_byte_pool},
    // Everything: the oracle of the tests.
    {"pool_reference", kFloats | DTypeSet{DType::i8, DType::u8}, nullptr, create_pool_reference},
};

}  // namespace

void register_region_max(Registry& registry);  // region_max.cpp

void register_family(Registry& registry) {
  register_region_max(registry);
  add_pool_schemas(registry);
  for (std::string_view op : {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"})
    registry.add_kernels(op, kPool);
  register_lp_pool(registry);
  register_max_unpool(registry);
}

}  // namespace anynpu::ops::pool
