// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerMatrix, AProductMayTransposeItsOperands) {
  EXPECT_EQ(OpForTest("MatMul").in({2, 3}).in({3, 4}).out().shape(), (Shape{2, 4}));
  EXPECT_EQ(OpForTest("MatMul").in({2, 3}).in({4, 3}).out().attr("transpose_x2", true).shape(),
            (Shape{2, 4}));
}

TEST(LowerMatrix, AVectorCannotBeTransposed) {
  EXPECT_THAT(OpForTest("BatchMatMul").in({3}).in({3, 4}).out().attr("adj_x1", true).message(),
              HasSubstr("cannot be transposed"));
}

TEST(LowerMatrix, AFullyConnectedLayerFlattensWhatItReads) {
  EXPECT_EQ(OpForTest("FullyConnection")
                .in({2, 3, 4})
                .in({5, 12})
                .out()
                .attr("num_output", int64_t{5})
                .shape(),
            (Shape{2, 5}));
  EXPECT_THAT(OpForTest("FullyConnection")
                  .in({2, 12})
                  .in({5, 12})
                  .out()
                  .attr("num_output", int64_t{6})
                  .message(),
              HasSubstr("num_output"));
}

TEST(LowerMatrix, EinsumNamesItsEquation) {
  EXPECT_EQ(OpForTest("Einsum")
                .in({2, 3})
                .in({3, 4})
                .out()
                .attr("equation", std::string("ij,jk->ki"))
                .shape(),
            (Shape{4, 2}));
}

}  // namespace
}  // namespace anynpu::singleop
