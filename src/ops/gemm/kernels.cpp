// SPDX-License-Identifier: Apache-2.0
// The kernels of matrix products, one ordered list per operator; the first that takes a case runs.
#include "ops/elements/epilogue.h"
#include "ops/families.h"
#include "ops/gemm/gemm.h"
#include "ops/gemm/gemm_amx.h"
#include "ops/gemm/grouped.h"
#include "ops/gemm/int8.h"
#include "ops/gemm/packed.h"
#include "ops/gemm/quantized.h"
#include "ops/gemm/weight_only.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/widen.h"

namespace anynpu::ops::gemm {

namespace {

constexpr DTypeSet kF32{DType::f32}, kBf16{DType::bf16};

// The fused ones may have steps behind the activation: those without with_epilogue do them
// themselves.
const KernelLine kGemm[] = {
    // Decoding of one token: packing the matrix would cost more than the product.
    {"gemm_few_rows", kF32 | kShortFloats, can_run_few_rows, create_few_rows},
    // Register tiles over packed panels, by the widest registers there are.
    {"gemm_avx512", kF32, can_run_packed_gemm<Isa::avx512>, create_packed_gemm<Isa::avx512>},
    {"gemm_avx2", kF32, can_run_packed_gemm<Isa::avx2>, create_packed_gemm<Isa::avx2>},
    {"gemm_baseline", kF32, can_run_packed_gemm<Isa::baseline>, create_packed_gemm<Isa::baseline>},
    // bfloat16 where the processor multiplies it: tiles of AMX, then pairs of AVX512-BF16.
    {"gemm_amx_bf16", kBf16, can_run_amx_gemm, with_epilogue<create_amx_gemm<amx::amx_engine>>},
    {"gemm_avx512_bf16", kBf16, can_run_bf16_gemm, with_epilogue<create_bf16_gemm>},
    // Short floats through the float32 kernels above.
    {"widened", kShortFloats, can_run_widened, create_widened},
    // Everything: the oracle of the tests.
    {"gemm_reference", kGemmTypes, nullptr, with_epilogue<create_gemm_reference>},
};

const KernelLine kInt8MatMul[] = {
    // Four bytes of k at a time by VPDPBUSD.
    {"matmul_avx512_vnni", {DType::u8, DType::i8}, can_run_packed_matmul, create_packed_matmul},
    // 8-bit floats too.
    {"reference", kLinearBytes, nullptr, create_plain<plan_int8_matmul>},
};

const KernelLine kQuantizedMatMul[] = {
    // The same, rounded to bytes again in registers.
    {"matmul_avx512_vnni", {DType::u8}, can_run_quantized_matmul, create_quantized_matmul},
    {"reference", {DType::u8}, nullptr, create_plain<plan_quantized_matmul_reference>},
};

const KernelLine kWeightOnly[] = {
    // Weights of 4 or 8 bits that are widened in registers, by the widest registers there are.
    {"weight_only_avx512", kF32, can_run_weight_only<Isa::avx512>, create_weight_only<Isa::avx512>},
    {"weight_only_avx2", kF32, can_run_weight_only<Isa::avx2>, create_weight_only<Isa::avx2>},
    {"weight_only_baseline", kF32, can_run_weight_only<Isa::baseline>,
     create_weight_only<Isa::baseline>},
    {"widened", kShortFloats, can_run_widened, create_widened},
    // Also weights that each run brings: the oracle of the tests.
    {"reference", kF32 | kShortFloats, nullptr,
     with_epilogue<create_plain<plan_weight_only_reference>>},
};

}  // namespace

void register_family(Registry& registry) {
  add_gemm_schemas(registry);
  for (std::string_view op : {"Gemm", "MatMul"}) registry.add_kernels(op, kGemm);
  for (std::string_view op : {"FusedGemm", "FusedMatMul"})
    registry.add_kernels(op, kGemm, "anynpu");
  register_grouped(registry);
  add_int8_matmul_schemas(registry);
  for (std::string_view op : {"MatMulInteger", "QLinearMatMul"})
    registry.add_kernels(op, kInt8MatMul);
  add_weight_only_schemas(registry);
  registry.add_kernels("MatMulNBits", kWeightOnly, "com.microsoft");
  for (std::string_view op : {"WeightOnlyMatMul", "FusedMatMulNBits"})
    registry.add_kernels(op, kWeightOnly, "anynpu");
  add_quantized_matmul_schema(registry);
  registry.add_kernels("QuantizedMatMul", kQuantizedMatMul, "anynpu");
}

}  // namespace anynpu::ops::gemm
