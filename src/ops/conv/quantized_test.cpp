// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes with everything around them: every kernel gives the bytes of the plain
// loop.
#include "ops/quantized_case.h"
#include "ops/simd/lanes_quant.h"
#include "ops/simd/tile_int8.h"

namespace anynpu::ops::conv {
namespace {

const char* const kHead = "QuantizedConv domain=anynpu const=1,2 dtype=uint8,int8,float32,uint8 ";
const char* const kBytes = " x_scale=0.02 x_zero=117 w_scales=0.01 y_scale=0.31 y_zero=99";
const char* const kFloats = " x_scale=0.02 x_zero=3 w_scales=0.01";
const char* const kSum =
    " x_scale=0.02 x_zero=117 w_scales=0.013 first_scale=0.3 first_zero=120 first_low=100 "
    "first_high=240 z_scale=0.21 z_zero=80 y_scale=0.4 y_zero=33 y_low=33";

std::string conv(const std::string& shape, const std::string& rest) {
  return kHead + ("shape=" + shape) + rest;
}

TEST(QuantizedConv, KernelsGiveTheBytesOfThePlainLoop) {
  const char* const shapes[] = {
      "1x32x9x9,48x32x1x1,48",
      "2x16x13x11,32x16x3x3,32 pads=1,1,1,1",
      "1x40x15x15,24x40x3x3,24 pads=1,1,1,1 strides=2,2",
      "1x3x33x35,16x3x7x7,16 pads=3,3,3,3 strides=2,2",
      "1x32x12x12,32x16x3x3,32 pads=1,1,1,1 group=2",
      "1x20x40,33x20x5,33 pads=2,2 dilations=2",
      "2x16x6x5,16x16x2x3,16 pads=1,0,0,2",
  };
  for (const char* shape : shapes) {
    EXPECT_GE(expect_same_bytes(conv(shape, kBytes)), check_vnni().ok() ? 1 : 0) << shape;
    expect_same_bytes(conv(shape, kFloats), 2);
  }
}

TEST(QuantizedConv, DepthwiseKernelsGiveTheBytesOfThePlainLoop) {
  const char* const shapes[] = {
      "1x32x12x12,32x1x3x3,32 pads=1,1,1,1 group=32",
      "2x40x15x14,40x1x3x3,40 pads=1,1,1,1 strides=2,2 group=40",
      "1x24x11x9,24x1x5x5,24 pads=2,2,2,2 group=24",
      "1x16x17x17,16x1x5x5,16 pads=2,2,2,2 strides=2,2 group=16",
      "1x16x14x14,16x1x7x7,16 pads=3,3,3,3 group=16",
      "1x19x30,19x1x3,19 pads=1,1 group=19",
      "1x16x6x6,16x1x3x3,16 group=16",
      "1x16x5x20,16x1x1x8,16 group=16",
  };
  for (const char* shape : shapes) {
    EXPECT_GE(expect_same_bytes(conv(shape, kBytes)), check_vbmi().ok() ? 1 : 0) << shape;
    expect_same_bytes(conv(shape, kFloats), 2);
  }
}

TEST(QuantizedConv, AResidualIsAddedBehindTheFirstRounding) {
  EXPECT_GE(expect_same_bytes(conv("1x32x9x9,48x32x1x1,48,1x48x9x9", kSum)), 0);
  expect_same_bytes(conv("1x32x9x9,32x1x3x3,32,1x32x9x9 pads=1,1,1,1 group=32", kSum));
  const std::string once = " x_scale=0.02 x_zero=1 w_scales=0.01 z_scale=0.2 z_zero=7";
  expect_same_bytes(conv("1x32x9x9,48x32x1x1,48,1x48x9x9", once + " y_scale=0.5 y_zero=130"));
  expect_same_bytes(conv("1x32x9x9,48x32x1x1,48,1x48x9x9", once));
}

TEST(QuantizedConv, EachChannelHasItsScale) {
  std::string scales = " w_scales=0.01";
  for (int i = 1; i < 24; ++i) scales += "," + std::to_string(0.01 + 0.001 * i);
  const std::string rest = " x_scale=0.02 x_zero=128 y_scale=0.5 y_zero=128" + scales;
  expect_same_bytes(conv("1x16x8x8,24x16x3x3,24 pads=1,1,1,1", rest));
  expect_same_bytes(conv("1x24x8x8,24x1x3x3,24 pads=1,1,1,1 group=24", rest));
}

TEST(QuantizedConv, BoundsAreThoseOfTheActivation) {
  expect_same_bytes(conv("1x16x8x8,32x16x1x1,32",
                         " x_scale=0.02 x_zero=128 w_scales=0.01 y_scale=0.1 y_zero=100 y_low=100 "
                         "y_high=160"));
}

TEST(QuantizedConv, RefusesScalesThatFitNoChannel) {
  const auto op_case =
      OpCase::parse(conv("1x16x8x8,24x16x1x1,24", " x_scale=0.02 w_scales=0.1,0.2 y_scale=0.5"));
  ASSERT_TRUE(op_case.ok());
  const auto context = op_case->context();
  ASSERT_FALSE(context.ok());
  EXPECT_NE(context.status().to_string().find("2 scales of weights for 24 output channels"),
            std::string::npos)
      << context.status().to_string();
}

}  // namespace
}  // namespace anynpu::ops::conv
