// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/lanes.h"

namespace anynpu::ops {

const LaneSet& lane_set(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return kLanesAvx512;
    case Isa::avx2:
      return kLanesAvx2;
    case Isa::baseline:
      break;
  }
  return kLanesBaseline;
}

}  // namespace anynpu::ops
