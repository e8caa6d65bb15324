// SPDX-License-Identifier: Apache-2.0
#include "tensor/hifloat8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace anynpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The positive finite numbers with their codes, in the order of the codes, by the definition of
// the type: a row for each eight codes.
std::vector<std::pair<double, int>> defined_numbers() {
  std::vector<std::pair<double, int>> numbers;
  for (int m = 1; m < 8; ++m) numbers.emplace_back(std::ldexp(1, m - 23), m);
  const auto add = [&](int first, int exponent, int places) {
    for (int m = 0; m < 1 << places; ++m)
      numbers.emplace_back(std::ldexp(1 + std::ldexp(m, -places), exponent), first + m);
  };
  add(0x08, 0, 3);
  add(0x10, 1, 3);
  add(0x18, -1, 3);
  for (int size : {2, 3}) add(0x20 + (size - 2) * 8, size, 3);
  for (int size : {2, 3}) add(0x30 + (size - 2) * 8, -size, 3);
  for (int size = 4; size < 8; ++size) add(0x40 + (size - 4) * 4, size, 2);
  for (int size = 4; size < 8; ++size) add(0x50 + (size - 4) * 4, -size, 2);
  for (int size = 8; size < 16; ++size) add(0x60 + (size - 8) * 2, size, 1);
  for (int size = 8; size < 16; ++size) add(0x70 + (size - 8) * 2, -size, 1);
  std::erase_if(numbers, [](const auto& number) { return number.second == 0x6f; });
  return numbers;
}

int code_of(double value) { return to_hif8(value).bits; }

TEST(HiFloat8, EveryCodeHasItsNumber) {
  const auto numbers = defined_numbers();
  ASSERT_EQ(numbers.size(), 126u);  // of 128 codes without a sign: zero and infinity are left
  for (const auto& [value, code] : numbers) {
    EXPECT_EQ(to_float(HiF8{static_cast<uint8_t>(code)}), value) << code;
    EXPECT_EQ(to_float(HiF8{static_cast<uint8_t>(code | 0x80)}), -value) << code;
    EXPECT_EQ(code_of(value), code);
    EXPECT_EQ(code_of(-value), code | 0x80);
  }
  EXPECT_EQ(to_float(HiF8{0}), 0.0f);
  EXPECT_TRUE(std::isnan(to_float(HiF8{0x80})));
  EXPECT_EQ(to_float(HiF8{0x6f}), kInfinity);
  EXPECT_EQ(to_float(HiF8{0xef}), -kInfinity);
}

TEST(HiFloat8, NumbersRoundOnceToTheNearestAndHalvesAwayFromZero) {
  auto numbers = defined_numbers();
  numbers.emplace_back(0.0, 0);
  numbers.emplace_back(1.5 * 32768, 0x6f);  // where infinity stands
  std::sort(numbers.begin(), numbers.end());
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    const auto [low, low_code] = numbers[i];
    const auto [high, high_code] = numbers[i + 1];
    const double half = (low + high) / 2;
    EXPECT_EQ(code_of(half), high_code) << half;
    EXPECT_EQ(code_of(-half), high_code | 0x80) << half;
    EXPECT_EQ(code_of(std::nextafter(half, 0)), low_code) << half;
    EXPECT_EQ(code_of(-std::nextafter(half, 0)), low_code ? low_code | 0x80 : 0) << half;
  }
}

TEST(HiFloat8, BeyondTheLargestLiesInfinityAndZeroHasNoSign) {
  for (double value : {1e300, 65536.0, 40960.0, kInfinity}) {
    EXPECT_EQ(code_of(value), 0x6f) << value;
    EXPECT_EQ(code_of(-value), 0xef) << value;
  }
  for (double value : {-0.0, 5e-324, -5e-324, -0x1p-24}) EXPECT_EQ(code_of(value), 0) << value;
  EXPECT_EQ(code_of(std::numeric_limits<double>::quiet_NaN()), 0x80);
}

}  // namespace
}  // namespace anynpu
