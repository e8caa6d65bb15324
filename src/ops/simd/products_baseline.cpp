// SPDX-License-Identifier: Apache-2.0
// Products of few rows for Isa::baseline; see tile_avx512.cpp on why headers stay outside the
// region.
#include <cstddef>
#include <cstdint>

#include "ops/simd/products.h"

namespace anynpu::ops {
namespace products_baseline {

constexpr int kWidth = 4;
#include "ops/simd/products_body.inc"

}  // namespace products_baseline

constinit const ProductSet kProductsBaseline{products_baseline::dots, products_baseline::add_rows,
                                             products_baseline::transpose};

const ProductSet& product_set(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return kProductsAvx512;
    case Isa::avx2:
      return kProductsAvx2;
    case Isa::baseline:
      break;
  }
  return kProductsBaseline;
}

}  // namespace anynpu::ops
