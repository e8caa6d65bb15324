// SPDX-License-Identifier: Apache-2.0
#include "exec/blocked_values.h"

#include <gtest/gtest.h>

#include "exec/graph_for_test.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;

class BlockedValuesTest : public testing::Test {
 protected:
  ValueId conv(ValueId x) { return net_.node("Conv", {x, weights_}); }
  bool blocked(ValueId id) { return find_blocked_values(net_.graph)[static_cast<size_t>(id)]; }

  NetBuilder net_;
  const ValueId x_ = net_.input("x", {1, 16, 4, 4});
  const ValueId weights_ = net_.weight({16, 16, 1, 1});
};

TEST_F(BlockedValuesTest, WhatOnlyConvolutionsReadIsBlocked) {
  const ValueId y = conv(x_);
  net_.output(conv(y));
  net_.output(conv(y));
  EXPECT_TRUE(blocked(y));
  EXPECT_TRUE(blocked(x_));
  EXPECT_FALSE(blocked(weights_)) << "convolutions pack their weights";
}

TEST_F(BlockedValuesTest, AnotherReaderOrTheCallerWantsItPlain) {
  const ValueId y = conv(x_), z = conv(x_);
  net_.output(conv(y));
  net_.output(net_.node("Softmax", {y}));
  net_.output(conv(z));
  net_.output(z);
  EXPECT_FALSE(blocked(y));
  EXPECT_FALSE(blocked(z));
  EXPECT_FALSE(blocked(net_.graph.outputs[0])) << "nobody reads it";
}

TEST_F(BlockedValuesTest, OperatorsThatMoveNothingPassTheWishOn) {
  const ValueId y = conv(x_);
  const ValueId same = net_.node("Identity", {y});
  const ValueId shaped = net_.node("Reshape", {same, net_.ints({1, 16, 4, 4})});
  net_.output(conv(shaped));
  EXPECT_TRUE(blocked(shaped));
  EXPECT_TRUE(blocked(same));
  EXPECT_TRUE(blocked(y));
}

TEST_F(BlockedValuesTest, InputsThatAreLeftOutAreSkipped) {
  const ValueId y = net_.node("Clip", {x_, graph::kNoValue, net_.floats({6}, {})});
  net_.output(conv(y));
  EXPECT_TRUE(blocked(y));
  EXPECT_FALSE(blocked(x_));
}

}  // namespace
}  // namespace anynpu::exec
