// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SingleOpKey, DiffersInShapesAttributesAndConstants) {
  const std::string key = key_of(OpForTest("Relu").in({2}).out({2}).op);
  EXPECT_EQ(key, key_of(OpForTest("Relu").in({2}).out({2}).op));
  EXPECT_NE(key, key_of(OpForTest("Relu").in({3}).out({3}).op));
  EXPECT_NE(key, key_of(OpForTest("Relu").in({2}, DType::f16).out({2}).op));
  EXPECT_NE(key, key_of(OpForTest("Relu").in({2}).out({2}).attr("a", int64_t{1}).op));
  EXPECT_NE(key_of(OpForTest("Pad").known({1}).op), key_of(OpForTest("Pad").known({2}).op));
}

TEST(SingleOpKey, TheFamilyLeavesExtentsOut) {
  EXPECT_EQ(family_of(OpForTest("Relu").in({2}).out({2}).op),
            family_of(OpForTest("Relu").in({3}).out({3}).op));
  EXPECT_NE(family_of(OpForTest("Relu").in({2}).op), family_of(OpForTest("Relu").in({2, 2}).op));
}

TEST(SingleOp, IsDynamicWhenAnExtentOfAnInputIsOpen) {
  EXPECT_TRUE(OpForTest("Relu").in({-1}).op.is_dynamic());
  EXPECT_FALSE(OpForTest("Relu").in({1}).op.is_dynamic());
}

TEST(SingleOp, FilesAreNamedAfterTypeAndTensors) {
  EXPECT_THAT(file_name(OpForTest("Add").in({8, 16}).op, 0), HasSubstr("0_Add_"));
  EXPECT_THAT(file_name(OpForTest("Add").in({8, 16}).op, 0), HasSubstr("_8_16"));
}

TEST(SingleOp, AttributeTypesAreSpelledAsInTheFiles) {
  EXPECT_EQ(type_name(Attr(int64_t{1})), "int");
  EXPECT_EQ(type_name(Attr(std::vector<float>{1})), "list_float");
}

}  // namespace
}  // namespace anynpu::singleop
