// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

OpForTest momentum() {
  return OpForTest("ApplyMomentum").in({2, 3}).in({2, 3}).in({}).in({2, 3}).in({});
}

TEST(LowerUpdate, WhatAnOperatorWritesMayBeDescribedOrNot) {
  const auto one = build_graph(momentum().out().op), two = build_graph(momentum().out().out().op);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->outputs.size(), 1u);
  EXPECT_EQ(two->outputs.size(), 2u);
}

TEST(LowerUpdate, TheTableNamesTheInputsThatAreWritten) {
  EXPECT_EQ(find_vendor_op("ApplyAdam")->writes, "012");
  EXPECT_EQ(find_vendor_op("SGD")->writes, "035");
  EXPECT_EQ(find_vendor_op("Add")->writes, "");
}

TEST(LowerUpdate, AFormWithAttributesNeedsThem) {
  OpForTest op("ApplyRMSPropD");
  op.in({3}).in({3}).in({3}).in({}).in({3}).out();
  EXPECT_THAT(op.message(), HasSubstr("rho"));
}

}  // namespace
}  // namespace anynpu::singleop
