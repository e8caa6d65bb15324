// SPDX-License-Identifier: Apache-2.0
#include "tensor/microscaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace anynpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A type by its definition: bits in all, mantissa bits, bias of the exponent.
struct Layout {
  int bits, mantissa, bias;
  double number(int code) const {
    const int sign = 1 << (bits - 1), low = code & ((1 << mantissa) - 1);
    const int exponent = (code & (sign - 1)) >> mantissa;
    const double size = exponent == 0
                            ? std::ldexp(low, 1 - bias - mantissa)
                            : std::ldexp(low + (1 << mantissa), exponent - bias - mantissa);
    return code & sign ? -size : size;
  }
};

template <typename T, typename Encode>
void expect_layout(const Layout& layout, Encode encode) {
  const int sign = 1 << (layout.bits - 1), largest = sign - 1;
  for (int code = 0; code < 2 * sign; ++code) {
    const float value = to_float(T{static_cast<uint8_t>(code)});
    EXPECT_EQ(value, layout.number(code)) << code;
    EXPECT_EQ(std::signbit(value), code >= sign) << code;
    EXPECT_EQ(encode(value).bits, code);
  }
  for (int code = 0; code < largest; ++code) {
    const double half = (layout.number(code) + layout.number(code + 1)) / 2;
    EXPECT_EQ(encode(half).bits, code % 2 == 0 ? code : code + 1) << half;
    EXPECT_EQ(encode(-half).bits, sign | (code % 2 == 0 ? code : code + 1)) << half;
    EXPECT_EQ(encode(std::nextafter(half, 0)).bits, code) << half;
    EXPECT_EQ(encode(std::nextafter(half, kInfinity)).bits, code + 1) << half;
  }
  for (double beyond : {layout.number(largest) * 2, 1e300, kInfinity}) {
    EXPECT_EQ(encode(beyond).bits, largest);
    EXPECT_EQ(encode(-beyond).bits, sign | largest);
  }
  EXPECT_EQ(to_float(T{encode(kNan).bits}), 0);
  EXPECT_EQ(encode(5e-324).bits, 0);
}

TEST(Microscaling, EveryCodeHasItsNumberAndNumbersRoundOnceToTheNearest) {
  expect_layout<F4E2M1>({4, 1, 1}, [](double x) { return to_f4e2m1(x); });
  expect_layout<F6E3M2>({6, 2, 3}, [](double x) { return to_f6e3m2(x); });
  expect_layout<F6E2M3>({6, 3, 1}, [](double x) { return to_f6e2m3(x); });
}

TEST(Microscaling, EveryCodeOfE8M0IsItsPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    const float value = to_float(F8E8M0{static_cast<uint8_t>(code)});
    EXPECT_EQ(value, std::ldexp(1.0, code - 127));
    for (auto rounding : {ScaleRounding::up, ScaleRounding::down, ScaleRounding::nearest}) {
      for (auto overflow : {Overflow::saturate, Overflow::special})
        EXPECT_EQ(to_f8e8m0(value, {overflow, rounding}).bits, code);
    }
  }
  EXPECT_TRUE(std::isnan(to_float(F8E8M0{0xff})));
}

TEST(Microscaling, ScalesRoundAsAskedAndSaturateOrBecomeNan) {
  struct Row {
    double value;
    int up, down, nearest, special_up, special_down, special_nearest;
  };
  const std::vector<Row> rows = {
      {1.1, 128, 127, 127, 128, 127, 127},       {1.5, 128, 127, 128, 128, 127, 128},
      {1.9, 128, 127, 128, 128, 127, 128},       {-1.9, 128, 127, 128, 128, 127, 128},
      {0x1.8p127, 254, 254, 254, 255, 254, 255}, {0x1.2p127, 254, 254, 254, 255, 254, 254},
      {1e300, 254, 254, 254, 255, 255, 255},     {kInfinity, 254, 254, 254, 255, 255, 255},
      {kNan, 255, 255, 255, 255, 255, 255},      {0.0, 0, 0, 0, 255, 255, 255},
      {0x1p-130, 0, 0, 0, 0, 255, 255},          {5e-324, 0, 0, 0, 0, 255, 255}};
  for (const Row& row : rows) {
    const auto code = [&](Overflow overflow, ScaleRounding rounding) {
      return int{to_f8e8m0(row.value, {overflow, rounding}).bits};
    };
    EXPECT_EQ(code(Overflow::saturate, ScaleRounding::up), row.up) << row.value;
    EXPECT_EQ(code(Overflow::saturate, ScaleRounding::down), row.down) << row.value;
    EXPECT_EQ(code(Overflow::saturate, ScaleRounding::nearest), row.nearest) << row.value;
    EXPECT_EQ(code(Overflow::special, ScaleRounding::up), row.special_up) << row.value;
    EXPECT_EQ(code(Overflow::special, ScaleRounding::down), row.special_down) << row.value;
    EXPECT_EQ(code(Overflow::special, ScaleRounding::nearest), row.special_nearest) << row.value;
  }
}

}  // namespace
}  // namespace anynpu
