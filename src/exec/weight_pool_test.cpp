// SPDX-License-Identifier: Apache-2.0
#include "exec/weight_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace anynpu::exec {
namespace {

std::vector<std::byte> filled_with(size_t bytes, int value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

TEST(WeightPool, TheSameBytesAreStoredOnce) {
  WeightPool pool;
  pool.open();
  const auto one = filled_with(100, 1), again = filled_with(100, 1), other = filled_with(100, 2);
  const auto first = pool.constant(one);
  EXPECT_TRUE(first.fresh);
  const auto same = pool.constant(again);
  EXPECT_FALSE(same.fresh);
  EXPECT_EQ(same.offset, first.offset);
  const auto apart = pool.constant(other);
  EXPECT_TRUE(apart.fresh);
  EXPECT_NE(apart.offset, first.offset);
  EXPECT_GE(pool.chunk(WeightSide::host)->bytes, 200u);
  pool.close();
}

TEST(WeightPool, HostAndDeviceHaveChunksOfTheirOwn) {
  WeightPool pool;
  pool.open();
  const auto bytes = filled_with(64, 3);
  const auto host = pool.constant(bytes, WeightSide::host);
  const auto device = pool.constant(bytes, WeightSide::device);
  EXPECT_TRUE(device.fresh);
  EXPECT_EQ(host.chunk->side, WeightSide::host);
  EXPECT_EQ(device.chunk->side, WeightSide::device);
  pool.close();
}

TEST(WeightPool, ALaterRoundFindsWhatAPlanStillHolds) {
  WeightPool pool;
  const auto bytes = filled_with(64, 4);
  pool.open();
  auto held = pool.constant(bytes).chunk;
  pool.close();
  pool.open();
  EXPECT_FALSE(pool.constant(bytes).fresh);
  pool.close();
  held.reset();  // the last plan is gone, and its weights with it
  pool.open();
  EXPECT_TRUE(pool.constant(bytes).fresh);
  pool.close();
}

}  // namespace
}  // namespace anynpu::exec
