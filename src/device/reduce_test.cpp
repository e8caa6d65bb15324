// SPDX-License-Identifier: Apache-2.0
#include "device/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tensor/half.h"

namespace anynpu::device {
namespace {

std::shared_ptr<Stream> reduce_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

template <typename T>
std::vector<T> reduced(std::vector<T> to, const std::vector<T>& from, ReduceKind kind,
                       ReduceType type) {
  auto stream = reduce_stream();
  EXPECT_TRUE(
      reduce_async({to.data(), from.data(), to.size() * sizeof(T), kind, type}, *stream).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  return to;
}

TEST(Reduce, EveryKindOverFloats) {
  const std::vector<float> a = {1, 5, -2};
  const std::vector<float> b = {2, 3, -2};
  EXPECT_EQ(reduced(a, b, ReduceKind::sum, ReduceType::f32), (std::vector<float>{3, 8, -4}));
  EXPECT_EQ(reduced(a, b, ReduceKind::max, ReduceType::f32), (std::vector<float>{2, 5, -2}));
  EXPECT_EQ(reduced(a, b, ReduceKind::min, ReduceType::f32), (std::vector<float>{1, 3, -2}));
  EXPECT_EQ(reduced(a, b, ReduceKind::equal, ReduceType::f32), (std::vector<float>{0, 0, 1}));
  EXPECT_TRUE(std::isnan(reduced<float>({1}, {NAN}, ReduceKind::max, ReduceType::f32)[0]));
  EXPECT_TRUE(std::isnan(reduced<float>({NAN}, {1}, ReduceKind::min, ReduceType::f32)[0]));
}

TEST(Reduce, IntegersWrapRound) {
  EXPECT_EQ(reduced<int8_t>({127}, {1}, ReduceKind::sum, ReduceType::s8),
            (std::vector<int8_t>{-128}));
  EXPECT_EQ(reduced<int16_t>({-5, 4}, {3, 9}, ReduceKind::max, ReduceType::s16),
            (std::vector<int16_t>{3, 9}));
  EXPECT_EQ(reduced<int32_t>({INT32_MAX}, {1}, ReduceKind::sum, ReduceType::s32),
            (std::vector<int32_t>{INT32_MIN}));
}

TEST(Reduce, HalfFloatsRoundOnce) {
  const auto f16 = reduced<F16>({to_f16(1.5f)}, {to_f16(2.25f)}, ReduceKind::sum, ReduceType::f16);
  EXPECT_EQ(to_float(f16[0]), 3.75f);
  const auto bf16 =
      reduced<BF16>({to_bf16(-1.0f)}, {to_bf16(8.0f)}, ReduceKind::min, ReduceType::bf16);
  EXPECT_EQ(to_float(bf16[0]), -1.0f);
}

TEST(Reduce, WrongSizesAndAddressesAreRefused) {
  alignas(4) float memory[4] = {};
  auto stream = reduce_stream();
  auto* odd = reinterpret_cast<uint8_t*>(memory) + 1;
  EXPECT_EQ(reduce_async({memory, memory, 3}, *stream).code(), Code::invalid_argument);
  EXPECT_EQ(reduce_async({memory, memory, 0}, *stream).code(), Code::invalid_argument);
  EXPECT_EQ(reduce_async({odd, memory, 4}, *stream).code(), Code::unaligned_address);
  EXPECT_EQ(reduce_async({nullptr, memory, 4}, *stream).code(), Code::invalid_address);
}

}  // namespace
}  // namespace anynpu::device
