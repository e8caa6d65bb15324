// SPDX-License-Identifier: Apache-2.0
// Register tiles for Isa::baseline. Standard headers stay outside the region, so that no inline
// function of theirs is compiled for more than the oldest processor.
#include <cstdint>
#include <utility>

#include "ops/simd/tile.h"

namespace anynpu::ops {
namespace tile_baseline {

constexpr int kMaxPixels = 2;
constexpr int kWidth = 4;
constexpr int kPanelBlocks = 1;
#include "ops/simd/tile_body.inc"

}  // namespace tile_baseline

constinit const TileSet kTilesBaseline{Isa::baseline, tile_baseline::kMaxPixels,
                                       tile_baseline::kPanelBlocks, tile_baseline::find};

}  // namespace anynpu::ops
