// SPDX-License-Identifier: Apache-2.0
// Row kernels for Isa::avx2; see tile_avx2.cpp on why headers stay outside the region.
#include <cstdint>

#include "ops/simd/lanes.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace anynpu::ops {
namespace lanes_avx2 {

constexpr int kWidth = 8;
#include "ops/simd/lanes_body.inc"

}  // namespace lanes_avx2

constinit const LaneSet kLanesAvx2{lanes_avx2::max_row, lanes_avx2::average_row,
                                   lanes_avx2::depthwise_row, lanes_avx2::fold_rows<true>,
                                   lanes_avx2::fold_rows<false>};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
