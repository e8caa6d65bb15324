// SPDX-License-Identifier: Apache-2.0
#include "base/align.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace anynpu {
namespace {

TEST(Align, counts_the_units_that_hold_a_value) {
  EXPECT_EQ(ceil_div(0, 8), 0);
  EXPECT_EQ(ceil_div(1, 8), 1);
  EXPECT_EQ(ceil_div(8, 8), 1);
  EXPECT_EQ(ceil_div(9, 8), 2);
}

TEST(Align, rounds_to_multiples_of_any_unit) {
  EXPECT_EQ(round_up(0, 64), 0);
  EXPECT_EQ(round_up(65, 64), 128);
  EXPECT_EQ(round_up(7, 3), 9);
  EXPECT_EQ(round_down(127, 64), 64);
  EXPECT_EQ(round_down(8, 3), 6);
  EXPECT_TRUE(is_aligned(12, 3));
  EXPECT_FALSE(is_aligned(13, 3));
}

TEST(Align, the_result_has_the_type_of_the_value) {
  static_assert(std::is_same_v<decltype(round_up(uint64_t{1}, 64)), uint64_t>);
  EXPECT_EQ(round_up((uint64_t{1} << 40) + 1, 1u << 12), (uint64_t{1} << 40) + 4096);
}

}  // namespace
}  // namespace anynpu
