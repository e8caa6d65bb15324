// SPDX-License-Identifier: Apache-2.0
// Row kernels for Isa::avx512; see tile_avx512.cpp on why headers stay outside the region.
#include <cstdint>

#include "ops/simd/lanes.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#endif
namespace anynpu::ops {
namespace lanes_avx512 {

constexpr int kWidth = 16;
#include "ops/simd/lanes_body.inc"

}  // namespace lanes_avx512

constinit const LaneSet kLanesAvx512{lanes_avx512::max_row, lanes_avx512::average_row,
                                     lanes_avx512::depthwise_row, lanes_avx512::fold_rows<true>,
                                     lanes_avx512::fold_rows<false>};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
