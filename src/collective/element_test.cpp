// SPDX-License-Identifier: Apache-2.0
#include "collective/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/half.h"

namespace anynpu::collective {
namespace {

template <typename T>
std::vector<T> reduced(Element element, ReduceOp how, const std::vector<std::vector<T>>& ranks) {
  std::vector<const void*> in;
  for (const auto& rank : ranks) in.push_back(rank.data());
  std::vector<T> out(ranks[0].size());
  reduce_elements(element, how, out.data(), in, out.size());
  return out;
}

TEST(Element, NumbersAreThoseOfTheInterface) {
  EXPECT_EQ(*element_of(4), Element::f32);
  EXPECT_EQ(bytes_of(*element_of(11)), 2u);
  EXPECT_EQ(bytes_of(*element_of(12)), 16u);
  EXPECT_EQ(element_of(13).status().code(), Code::invalid_argument);
  EXPECT_EQ(element_of(-1).status().code(), Code::invalid_argument);
  EXPECT_EQ(reduce_op_of(4).status().code(), Code::invalid_argument);
}

TEST(Element, NumbersWithoutArithmeticAreRefused) {
  EXPECT_TRUE(check_reducible(Element::bf16).ok());
  EXPECT_EQ(check_reducible(Element::i128).code(), Code::unsupported_dtype);
  EXPECT_EQ(check_reducible(Element::f8e4m3).code(), Code::unsupported_dtype);
}

TEST(ReduceElements, GoesFromTheFirstToTheLast) {
  // (1e8 + 1) - 1e8 is 0 in 32 bits; any other order gives 1.
  EXPECT_EQ(reduced<float>(Element::f32, ReduceOp::sum, {{1e8f}, {1}, {-1e8f}})[0], 0);
  EXPECT_EQ(reduced<float>(Element::f32, ReduceOp::sum, {{1e8f}, {-1e8f}, {1}})[0], 1);
}

TEST(ReduceElements, LongArraysOfManyRanks) {
  for (const size_t count : {size_t{1}, size_t{7}, size_t{5000}}) {
    std::vector<std::vector<int32_t>> ranks(5, std::vector<int32_t>(count));
    for (size_t r = 0; r < 5; ++r) {
      for (size_t i = 0; i < count; ++i) ranks[r][i] = static_cast<int32_t>(i * 3 + r);
    }
    const auto sums = reduced(Element::i32, ReduceOp::sum, ranks);
    const auto most = reduced(Element::i32, ReduceOp::max, ranks);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(sums[i], static_cast<int32_t>(15 * i + 10));
      ASSERT_EQ(most[i], static_cast<int32_t>(3 * i + 4));
    }
  }
}

TEST(ReduceElements, IntegersWrapRound) {
  EXPECT_EQ(reduced<int8_t>(Element::i8, ReduceOp::sum, {{127}, {1}})[0], -128);
  EXPECT_EQ(reduced<uint8_t>(Element::u8, ReduceOp::prod, {{200}, {2}})[0], 144);
  EXPECT_EQ(reduced<int64_t>(Element::i64, ReduceOp::prod, {{int64_t{1} << 62}, {4}})[0], 0);
}

TEST(ReduceElements, HalvesAreRoundedOnce) {
  // 2048 + 1 + 1 is 2050 when it is rounded at the end, 2048 when each step is.
  const auto f16 = [](float v) { return to_f16(v).bits; };
  EXPECT_EQ(reduced<uint16_t>(Element::f16, ReduceOp::sum, {{f16(2048)}, {f16(1)}, {f16(1)}})[0],
            f16(2050));
  const auto bf16 = [](float v) { return to_bf16(v).bits; };
  EXPECT_EQ(reduced<uint16_t>(Element::bf16, ReduceOp::sum, {{bf16(256)}, {bf16(1)}, {bf16(1)}})[0],
            bf16(258));
}

TEST(ReduceElements, NanWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(reduced<double>(Element::f64, ReduceOp::max, {{nan}, {1}})[0]));
  EXPECT_TRUE(std::isnan(reduced<double>(Element::f64, ReduceOp::min, {{1}, {nan}})[0]));
}

TEST(ReduceElements, TheResultMayBeAnInput) {
  std::vector<float> a = {1, 2, 3}, b = {10, 20, 30}, c = {100, 200, 300};
  const void* in[] = {a.data(), b.data(), c.data()};
  reduce_elements(Element::f32, ReduceOp::sum, b.data(), in, 3);
  EXPECT_EQ(b, (std::vector<float>{111, 222, 333}));
}

}  // namespace
}  // namespace anynpu::collective
