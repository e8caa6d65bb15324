// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/quant_rows.h"

namespace anynpu::ops::quantize {

const QuantRowSet& quant_row_set(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return kQuantRowsAvx512;
    case Isa::avx2:
      return kQuantRowsAvx2;
    case Isa::baseline:
      break;
  }
  return kQuantRowsBaseline;
}

}  // namespace anynpu::ops::quantize
