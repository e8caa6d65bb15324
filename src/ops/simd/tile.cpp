// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/tile.h"

namespace anynpu::ops {

const TileSet& tile_set(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return kTilesAvx512;
    case Isa::avx2:
      return kTilesAvx2;
    case Isa::baseline:
      break;
  }
  return kTilesBaseline;
}

}  // namespace anynpu::ops
