// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

TEST(LowerPlace, BlocksDivideTheAxes) {
  EXPECT_EQ(
      OpForTest("SpaceToBatchND").in({1, 4, 6, 3}).known({2, 2}).known({0, 0, 0, 0}).out().shape(),
      (Shape{4, 2, 3, 3}));
  EXPECT_THAT(
      OpForTest("SpaceToBatchND").in({1, 5, 6}).known({2, 2}).known({0, 0, 0, 0}).out().message(),
      HasSubstr("do not divide"));
}

TEST(LowerPlace, RowsLieInTheTensor) {
  OpForTest op("InplaceAddD");
  op.in({3, 4}).in({1, 4}).out().attr("indices", std::vector<int64_t>{3});
  EXPECT_THAT(op.message(), HasSubstr("an index is 3, expected 0 to 2"));
}

TEST(LowerPlace, AMirrorIsAtMostAsLongAsTheAxis) {
  OpForTest op("MirrorPad");
  op.in({3}).known({4, 0}).out().attr("mode", std::string("SYMMETRIC"));
  EXPECT_THAT(op.message(), HasSubstr("borders of 4 and 0"));
}

}  // namespace
}  // namespace anynpu::singleop
