// SPDX-License-Identifier: Apache-2.0
// Products with narrow weights for Isa::baseline; see tile_avx512.cpp on why headers stay outside
// the region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/weight_only.h"

namespace anynpu::ops {
namespace weight_only_baseline {

constexpr int kWidth = 4;
#include "ops/simd/weight_only_body.inc"

}  // namespace weight_only_baseline

constinit const WeightOnlySet kWeightOnlyBaseline{weight_only_baseline::multiply,
                                                  weight_only_baseline::widen};

const WeightOnlySet& weight_only_set(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return kWeightOnlyAvx512;
    case Isa::avx2:
      return kWeightOnlyAvx2;
    case Isa::baseline:
      break;
  }
  return kWeightOnlyBaseline;
}

}  // namespace anynpu::ops
