// SPDX-License-Identifier: Apache-2.0
// The kernels of convolutions, one ordered list per operator: the first that takes a case runs it.
#include "ops/conv/blocked.h"
#include "ops/conv/bottleneck.h"
#include "ops/conv/bottleneck_amx.h"
#include "ops/conv/bottleneck_composed.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_amx.h"
#include "ops/conv/im2col.h"
#include "ops/conv/int8.h"
#include "ops/conv/quantized.h"
#include "ops/conv/transpose_overlap.h"
#include "ops/conv/winograd.h"
#include "ops/elements/epilogue.h"
#include "ops/families.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/widen.h"

namespace anynpu::ops::conv {

namespace {

constexpr DTypeSet kF32{DType::f32}, kBf16{DType::bf16};
constexpr DTypeSet kDepthwiseTypes{DType::f32, DType::f16, DType::bf16};
constexpr DTypeSet kInt8Types{DType::u8, DType::i8};

// FusedConv may have steps behind the activation: those without with_epilogue do them themselves.
const KernelLine kConv[] = {
    // One channel a group: no sums over channels, so 16 of them at a time.
    {"depthwise_avx512", kDepthwiseTypes, can_run_depthwise_conv<Isa::avx512>,
     create_depthwise_conv<Isa::avx512>},
    // 3x3 of stride 1: 16 products in place of 36, where channels are many enough.
    {"winograd_avx512", kF32, can_run_winograd_conv, create_winograd_conv},
    // Register tiles over blocked tensors: constant weights, two axes at most.
    {"conv_avx512", kF32, can_run_blocked_conv<Isa::avx512>, create_blocked_conv<Isa::avx512>},
    // The same for processors without AVX-512, and for those without AVX2.
    {"depthwise_avx2", kDepthwiseTypes, can_run_depthwise_conv<Isa::avx2>,
     create_depthwise_conv<Isa::avx2>},
    {"conv_avx2", kF32, can_run_blocked_conv<Isa::avx2>, create_blocked_conv<Isa::avx2>},
    {"depthwise_baseline", kDepthwiseTypes, can_run_depthwise_conv<Isa::baseline>,
     create_depthwise_conv<Isa::baseline>},
    {"conv_baseline", kF32, can_run_blocked_conv<Isa::baseline>,
     create_blocked_conv<Isa::baseline>},
    // Any number of axes, and weights that a run brings.
    {"im2col_avx512", kF32, can_run_im2col<im2col_conv_of, Isa::avx512>,
     with_epilogue<create_im2col_conv<im2col_conv_of, Isa::avx512>>},
    {"im2col_avx2", kF32, can_run_im2col<im2col_conv_of, Isa::avx2>,
     with_epilogue<create_im2col_conv<im2col_conv_of, Isa::avx2>>},
    {"im2col_baseline", kF32, can_run_im2col<im2col_conv_of, Isa::baseline>,
     with_epilogue<create_im2col_conv<im2col_conv_of, Isa::baseline>>},
    // bfloat16 where the processor multiplies it: tiles of AMX, then pairs of AVX512-BF16.
    {"conv_amx_bf16", kBf16, can_run_amx_conv, with_epilogue<create_amx_conv<amx::amx_engine>>},
    {"conv_avx512_bf16", kBf16, can_run_bf16_conv, with_epilogue<create_bf16_conv>},
    // Short floats through the float32 kernels above.
    {"widened", kShortFloats, can_run_widened, create_widened},
    // Everything, in double: the oracle of the tests.
    {"conv_reference", kFloats, nullptr, with_epilogue<create_conv_reference>},
};

const KernelLine kConvTranspose[] = {
    // A few output channels: one product for all taps, then what overlaps is added.
    {"overlap_avx512", kF32, can_run_transpose_overlap<Isa::avx512>,
     create_transpose_overlap<Isa::avx512>},
    {"overlap_avx2", kF32, can_run_transpose_overlap<Isa::avx2>,
     create_transpose_overlap<Isa::avx2>},
    // Each phase of the stride is a convolution by im2col.
    {"im2col_avx512", kF32, can_run_im2col<im2col_conv_transpose_of, Isa::avx512>,
     create_im2col_conv<im2col_conv_transpose_of, Isa::avx512>},
    {"im2col_avx2", kF32, can_run_im2col<im2col_conv_transpose_of, Isa::avx2>,
     create_im2col_conv<im2col_conv_transpose_of, Isa::avx2>},
    {"im2col_baseline", kF32, can_run_im2col<im2col_conv_transpose_of, Isa::baseline>,
     create_im2col_conv<im2col_conv_transpose_of, Isa::baseline>},
    // Short floats through the float32 kernels above.
    {"widened", kShortFloats, can_run_widened, create_widened},
    // Everything, in double.
    {"reference", kFloats, nullptr, create_plain<plan_conv_transpose>},
};

const KernelLine kInt8Conv[] = {
    // Four bytes of a pixel at a time by VPDPBUSD.
    {"conv_avx512_vnni", kInt8Types, can_run_packed_conv, create_packed_conv},
    {"reference", kInt8Types, nullptr, create_plain<plan_int8_conv>},
};

const KernelLine kQuantizedConv[] = {
    // One filter per channel: pixels are turned into taps of 16 channels.
    {"depthwise_avx512_vnni", {DType::u8}, can_run_quantized_depthwise, create_quantized_depthwise},
    // Register tiles over blocked tensors, rounded to bytes again in registers.
    {"conv_avx512_vnni", {DType::u8}, can_run_quantized_conv, create_quantized_conv},
    {"reference", {DType::u8}, nullptr, create_plain<plan_quantized_conv_reference>},
};

const KernelLine kBottleneck[] = {
    // The three convolutions strip by strip, intermediate values in the cache.
    {"bottleneck_amx_bf16", kBf16, can_run_amx_bottleneck, create_amx_bottleneck<amx::amx_engine>},
    // The fastest kernel of each convolution, one after the other.
    {"composed", kFloats, nullptr, create_composed<choose_fastest>},
    {"bottleneck_reference", kFloats, nullptr, create_composed<choose_reference>},
};

}  // namespace

void register_family(Registry& registry) {
  add_conv_schemas(registry);
  registry.add_kernels("Conv", kConv);
  registry.add_kernels("FusedConv", kConv, "anynpu");
  add_bottleneck_schema(registry);
  registry.add_kernels("FusedBottleneck", kBottleneck, "anynpu");
  add_conv_transpose_schema(registry);
  registry.add_kernels("ConvTranspose", kConvTranspose);
  add_int8_conv_schemas(registry);
  registry.add_kernels("ConvInteger", kInt8Conv);
  registry.add_kernels("QLinearConv", kInt8Conv);
  add_quantized_conv_schema(registry);
  registry.add_kernels("QuantizedConv", kQuantizedConv, "anynpu");
  register_causal_conv(registry);
  register_deform_conv(registry);
  register_col2im(registry);
  register_im2col_op(registry);
}

}  // namespace anynpu::ops::conv
