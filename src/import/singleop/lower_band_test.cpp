// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

TEST(LowerBand, ADiagonalMakesTheSmallestMatrixThatHoldsIt) {
  EXPECT_EQ(OpForTest("MatrixDiagV3").in({3}).known({1}).out().shape(), (Shape{4, 4}));
  EXPECT_EQ(OpForTest("MatrixDiagV3").in({2, 2, 3}).known({-1, 0}).out().shape(), (Shape{2, 3, 3}));
}

TEST(LowerBand, ATriangleHasARowForEachAxis) {
  OpForTest op("TrilIndices");
  op.out().attr("row", int64_t{3}).attr("col", int64_t{3}).attr("offset", int64_t{0});
  EXPECT_EQ(op.shape(), (Shape{2, 6}));
}

TEST(LowerBand, DiagonalsGoFromTheLowestToTheHighest) {
  EXPECT_THAT(OpForTest("MatrixDiagPartV3").in({3, 3}).known({1, 0}).out().message(),
              HasSubstr("k has 2 numbers"));
}

}  // namespace
}  // namespace anynpu::singleop
