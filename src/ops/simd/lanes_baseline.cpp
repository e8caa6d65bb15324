// SPDX-License-Identifier: Apache-2.0
// Row kernels for Isa::baseline; see tile_baseline.cpp on why headers stay outside the region.
#include <cstdint>

#include "ops/simd/lanes.h"

namespace anynpu::ops {
namespace lanes_baseline {

constexpr int kWidth = 4;
#include "ops/simd/lanes_body.inc"

}  // namespace lanes_baseline

constinit const LaneSet kLanesBaseline{
    lanes_baseline::max_row, lanes_baseline::average_row, lanes_baseline::depthwise_row,
    lanes_baseline::fold_rows<true>, lanes_baseline::fold_rows<false>};

}  // namespace anynpu::ops
