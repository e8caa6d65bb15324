// SPDX-License-Identifier: Apache-2.0
#include "tensor/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace anynpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The number of a code by the definition of its type: sign, exponent, mantissa.
double defined_value(int code, int mantissa_bits, int bias) {
  const int mantissa = code & ((1 << mantissa_bits) - 1);
  const int exponent = (code & 0x7f) >> mantissa_bits;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                    : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return code & 0x80 ? -size : size;
}

TEST(Float8, EveryCodeOfE5M2HasItsNumber) {
  for (int code = 0; code < 256; ++code) {
    const float value = to_float(F8E5M2{static_cast<uint8_t>(code)});
    EXPECT_EQ(std::signbit(value), code >= 0x80) << code;
    if ((code & 0x7f) > 0x7c) {
      EXPECT_TRUE(std::isnan(value)) << code;
    } else {
      const double wanted = (code & 0x7f) == 0x7c ? std::copysign(kInfinity, code & 0x80 ? -1 : 1)
                                                  : defined_value(code, 2, 15);
      EXPECT_EQ(value, wanted) << code;
      EXPECT_EQ(to_f8e5m2(value, Overflow::special).bits, code);
    }
  }
}

TEST(Float8, EveryCodeOfE4M3HasItsNumber) {
  for (int code = 0; code < 256; ++code) {
    const float value = to_float(F8E4M3{static_cast<uint8_t>(code)});
    EXPECT_EQ(std::signbit(value), code >= 0x80) << code;
    if ((code & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(value)) << code;
    } else {
      EXPECT_EQ(value, defined_value(code, 3, 7)) << code;
      EXPECT_EQ(to_f8e4m3(value, Overflow::special).bits, code);
    }
  }
}

// Between two neighbours: the half goes to the even code, what is next to the half to its side,
// also by a distance that float32 does not have.
template <typename Encode>
void expect_nearest(int first_special, int mantissa_bits, int bias, Encode encode) {
  for (int code = 0; code + 1 < first_special; ++code) {
    const double low = defined_value(code, mantissa_bits, bias);
    const double high = defined_value(code + 1, mantissa_bits, bias);
    const double half = (low + high) / 2;
    for (const int sign : {0, 0x80}) {
      const auto coded = [&](double size) { return encode(sign ? -size : size); };
      EXPECT_EQ(coded(half), sign | (code % 2 == 0 ? code : code + 1)) << half;
      EXPECT_EQ(coded(std::nextafter(half, 0)), sign | code) << half;
      EXPECT_EQ(coded(std::nextafter(half, kInfinity)), sign | (code + 1)) << half;
    }
  }
}

TEST(Float8, NumbersRoundOnceToTheNearestAndHalvesToEven) {
  expect_nearest(0x7c, 2, 15, [](double x) { return int{to_f8e5m2(x).bits}; });
  expect_nearest(0x7f, 3, 7, [](double x) { return int{to_f8e4m3(x).bits}; });
}

TEST(Float8, BeyondTheLargestSaturatesOrBecomesSpecial) {
  struct Row {
    double value;
    int e5m2, e5m2_special, e4m3, e4m3_special;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Row> rows = {{kInfinity, 0x7b, 0x7c, 0x7e, 0x7f},
                                 {-kInfinity, 0xfb, 0xfc, 0xfe, 0xff},
                                 {nan, 0x7f, 0x7f, 0x7f, 0x7f},
                                 {-nan, 0xff, 0xff, 0xff, 0xff},
                                 {1e300, 0x7b, 0x7c, 0x7e, 0x7f},
                                 {-1e300, 0xfb, 0xfc, 0xfe, 0xff},
                                 {464, 0x5f, 0x5f, 0x7e, 0x7e},
                                 {464.5, 0x5f, 0x5f, 0x7e, 0x7f},
                                 {480, 0x60, 0x60, 0x7e, 0x7f},
                                 {61439, 0x7b, 0x7b, 0x7e, 0x7f},
                                 {61440, 0x7b, 0x7c, 0x7e, 0x7f},
                                 {-61440, 0xfb, 0xfc, 0xfe, 0xff},
                                 {5e-324, 0, 0, 0, 0},
                                 {-0.0, 0x80, 0x80, 0x80, 0x80},
                                 {0x1p-17, 0, 0, 0, 0},
                                 {0x1.8p-17, 1, 1, 0, 0},
                                 {-0x1.00001p-10, 0x94, 0x94, 0x81, 0x81}};
  for (const Row& row : rows) {
    EXPECT_EQ(to_f8e5m2(row.value).bits, row.e5m2) << row.value;
    EXPECT_EQ(to_f8e5m2(row.value, Overflow::special).bits, row.e5m2_special) << row.value;
    EXPECT_EQ(to_f8e4m3(row.value).bits, row.e4m3) << row.value;
    EXPECT_EQ(to_f8e4m3(row.value, Overflow::special).bits, row.e4m3_special) << row.value;
  }
}

}  // namespace
}  // namespace anynpu
