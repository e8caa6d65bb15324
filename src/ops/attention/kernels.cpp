// SPDX-License-Identifier: Apache-2.0
// The kernels of attention in order: the first that takes a case runs it.
#include "ops/attention/attention.h"
#include "ops/attention/attention_amx.h"
#include "ops/attention/flash.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops::attention {

namespace {

const KernelLine kAttention[] = {
    // A few queries over many keys (a decoder's step): keys are read once, nothing is packed.
    {"attention_few_rows_avx512", kTiledTypes, can_run_few_rows<Isa::avx512>,
     create_few_rows<Isa::avx512>},
    {"attention_few_rows_avx2", kTiledTypes, can_run_few_rows<Isa::avx2>,
     create_few_rows<Isa::avx2>},
    // bfloat16 on tiles of AMX.
    {"attention_amx_bf16",
     {DType::bf16},
     can_run_amx_attention,
     create_amx_attention<amx::amx_engine>},
    // Two products on register tiles with the softmax between them in the cache.
    {"attention_avx512", kTiledTypes, can_run_tiled_attention<Isa::avx512>,
     create_tiled_attention<Isa::avx512>},
    {"attention_avx2", kTiledTypes, can_run_tiled_attention<Isa::avx2>,
     create_tiled_attention<Isa::avx2>},
    {"attention_baseline", kTiledTypes, can_run_tiled_attention<Isa::baseline>,
     create_tiled_attention<Isa::baseline>},
    // Everything, in double: the oracle of the tests.
    {"attention_reference", kFloats, nullptr, create_plain<plan_attention_reference>},
};

const KernelLine kFlash[] = {
    {"flash_avx512", kTiledTypes, can_run_flash<Isa::avx512>, create_flash<Isa::avx512>},
    {"flash_avx2", kTiledTypes, can_run_flash<Isa::avx2>, create_flash<Isa::avx2>},
    {"flash_baseline", kTiledTypes, can_run_flash<Isa::baseline>, create_flash<Isa::baseline>},
    // Everything, in double: the oracle of the tests.
    {"flash_reference", kFloats, nullptr, create_plain<plan_flash_reference>},
};

const KernelLine kFlashGradient[] = {
    {"flash_gradient_avx512", kTiledTypes, can_run_flash<Isa::avx512>,
     create_flash_gradient<Isa::avx512>},
    {"flash_gradient_avx2", kTiledTypes, can_run_flash<Isa::avx2>,
     create_flash_gradient<Isa::avx2>},
    {"flash_gradient_baseline", kTiledTypes, can_run_flash<Isa::baseline>,
     create_flash_gradient<Isa::baseline>},
    // Everything, in double: the oracle of the tests.
    {"flash_gradient_reference", kFloats, nullptr, create_plain<plan_flash_gradient_reference>},
};

}  // namespace

void register_family(Registry& registry) {
  add_attention_schemas(registry);
  registry.add_kernels("FusedAttention", kAttention, "anynpu");
  registry.add_kernels("Attention", kAttention);
  add_flash_schemas(registry);
  registry.add_kernels("FlashAttention", kFlash, "anynpu");
  registry.add_kernels("FlashAttentionGrad", kFlashGradient, "anynpu");
  register_rotary(registry);
  register_linear_attention(registry);
}

}  // namespace anynpu::ops::attention
