// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/rows.h"

namespace anynpu::ops {

const RowSet& row_set(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return kRowsAvx512;
    case Isa::avx2:
      return kRowsAvx2;
    case Isa::baseline:
      break;
  }
  return kRowsBaseline;
}

}  // namespace anynpu::ops
