// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SingleOpInfer, OutputsComeFromTheOperatorWhateverIsDescribed) {
  const auto outputs = infer_outputs(OpForTest("Add").in({2, 3}).in({3}).out({7}, DType::i8).op);
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_EQ((*outputs)[0].dtype, DType::f32);
  EXPECT_EQ((*outputs)[0].shape, (Shape{2, 3}));
}

TEST(SingleOpInfer, AnExtentThatDependsOnTheDataHasARange) {
  const auto outputs = infer_outputs(OpForTest("NonZero").in({2, 3}).out().op);
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_EQ((*outputs)[0].shape, (Shape{-1, 2}));
  EXPECT_EQ((*outputs)[0].shape_ranges[0], (Range{0, 6}));
}

TEST(SingleOpInfer, AShapeThatNeedsValuesAsksForThem) {
  const auto outputs = infer_outputs(OpForTest("Reshape").in({2, 6}).in({2}, DType::i64).out().op);
  EXPECT_THAT(outputs.status().message(), HasSubstr("depends on the values"));
}

}  // namespace
}  // namespace anynpu::singleop
