// SPDX-License-Identifier: Apache-2.0
#include "tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anynpu {
namespace {

TEST(Half, EveryFloat16SurvivesTheWayThroughFloat32) {
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const F16 value{static_cast<uint16_t>(bits)};
    const float wide = to_float(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(to_float(to_f16(wide))));
    } else {
      ASSERT_EQ(to_f16(wide).bits, value.bits) << std::hex << bits;
    }
  }
}

TEST(Half, Float16RoundsToNearestEven) {
  EXPECT_EQ(to_f16(1.0f + 0x1p-11f).bits, 0x3c00);    // tie: even below
  EXPECT_EQ(to_f16(1.0f + 0x1.8p-10f).bits, 0x3c02);  // tie: even above
  EXPECT_EQ(to_f16(1.0f + 0x1p-11f + 0x1p-20f).bits, 0x3c01);
  EXPECT_EQ(to_f16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(to_f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_f16(-0.0f).bits, 0x8000);
  EXPECT_EQ(to_f16(0x1p-25f).bits, 0x0000);
  EXPECT_EQ(to_f16(0x1.8p-25f).bits, 0x0001);
}

TEST(Half, BFloat16RoundsToNearestEvenAndKeepsNaN) {
  EXPECT_EQ(to_bf16(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(to_bf16(1.0f + 0x1.8p-7f).bits, 0x3f82);
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(to_float(to_bf16(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace anynpu
