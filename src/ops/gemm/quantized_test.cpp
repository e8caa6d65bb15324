// SPDX-License-Identifier: Apache-2.0
// Products of bytes with everything around them: every kernel gives the bytes of the plain loop.
#include "ops/quantized_case.h"
#include "ops/simd/tile_int8.h"

namespace anynpu::ops::gemm {
namespace {

std::string product(const std::string& shape, const std::string& rest) {
  return "QuantizedMatMul domain=anynpu const=1,2 dtype=uint8,int8,float32,uint8 shape=" + shape +
         " x_scale=0.02 x_zero=117 w_scales=0.01 " + rest;
}

TEST(QuantizedMatMul, KernelsGiveTheBytesOfThePlainLoop) {
  for (const char* shape : {"33x64,64x48,48", "2x5x10,10x7,7", "1x768,768x80,80", "29x5,5x16,16",
                            "15x4096,4096x33,33", "3x1,1x1,1", "14x4,4x32"}) {
    EXPECT_GE(expect_same_bytes(product(shape, "y_scale=0.6 y_zero=100")),
              check_vnni().ok() ? 1 : 0)
        << shape;
    expect_same_bytes(product(shape, ""), 2);
  }
  expect_same_bytes(product("9x24,40x24,40", "transB=1 y_scale=0.3 y_zero=9"));
}

TEST(QuantizedMatMul, AResidualIsAddedBehindTheFirstRounding) {
  expect_same_bytes(product("17x64,64x50,50,17x50",
                            "first_scale=0.3 first_zero=120 z_scale=0.21 z_zero=80 y_scale=0.4 "
                            "y_zero=33 y_low=33"));
}

}  // namespace
}  // namespace anynpu::ops::gemm
