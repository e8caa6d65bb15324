// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerSpecial, ChannelsAreShuffledByReshapeAndTranspose) {
  EXPECT_THAT(OpForTest("ShuffleChannel").in({1, 6, 2, 2}).out().attr("group", int64_t{3}).nodes(),
              ElementsAre("Reshape", "Transpose", "Reshape"));
}

TEST(LowerSpecial, ADeterminantHasOneNumberAMatrix) {
  EXPECT_EQ(OpForTest("MatrixDeterminant").in({2, 3, 3}).out().shape(), (Shape{2}));
}

TEST(LowerSpecial, MaskedSelectIsCompress) {
  EXPECT_THAT(OpForTest("MaskedSelect").in({4}).in({4}, DType::boolean).out().nodes(),
              Contains("Compress"));
}

}  // namespace
}  // namespace anynpu::singleop
