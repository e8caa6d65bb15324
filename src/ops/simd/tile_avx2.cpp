// SPDX-License-Identifier: Apache-2.0
// Register tiles for Isa::avx2. Standard headers stay outside the region, so that no inline
// function of theirs is compiled for more than the oldest processor.
#include <cstdint>
#include <utility>

#include "ops/simd/tile.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace anynpu::ops {
namespace tile_avx2 {

constexpr int kMaxPixels = 6;
constexpr int kWidth = 8;
constexpr int kPanelBlocks = 1;
#include "ops/simd/tile_body.inc"

}  // namespace tile_avx2

constinit const TileSet kTilesAvx2{Isa::avx2, tile_avx2::kMaxPixels, tile_avx2::kPanelBlocks,
                                   tile_avx2::find};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
