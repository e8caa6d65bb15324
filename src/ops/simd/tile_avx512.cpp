// SPDX-License-Identifier: Apache-2.0
// Register tiles for Isa::avx512. Standard headers stay outside the region, so that no inline
// function of theirs is compiled for more than the oldest processor.
#include <cstdint>
#include <utility>

#include "ops/simd/tile.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#endif
namespace anynpu::ops {
namespace tile_avx512 {

constexpr int kMaxPixels = 14;
constexpr int kWidth = 16;
constexpr int kPanelBlocks = 2;
#include "ops/simd/tile_body.inc"

}  // namespace tile_avx512

constinit const TileSet kTilesAvx512{Isa::avx512, tile_avx512::kMaxPixels,
                                     tile_avx512::kPanelBlocks, tile_avx512::find};

}  // namespace anynpu::ops
#if defined(__x86_64__)
#pragma GCC pop_options
#endif
