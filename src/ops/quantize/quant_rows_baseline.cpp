// SPDX-License-Identifier: Apache-2.0
// Quantising row kernels for Isa::baseline; see tile_avx512.cpp on why headers stay outside the
// region.
#include <cstdint>

#include "ops/quantize/quant_rows.h"

namespace anynpu::ops::quantize {
namespace quant_rows_baseline {

constexpr int kWidth = 4;
#include "ops/quantize/quant_rows_body.inc"

}  // namespace quant_rows_baseline

constinit const QuantRowSet kQuantRowsBaseline = quant_rows_baseline::kSet;

}  // namespace anynpu::ops::quantize
