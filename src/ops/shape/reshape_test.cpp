// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "ops/test_node.h"

namespace anynpu::ops::shape {
namespace {

TEST(BitCast, AWideElementIsSeveralNarrowOnes) {
  const auto shape = [](Shape given, DType from, int64_t to) {
    return TestNode("BitCast", 1, "anynpu")
        .shape(std::move(given), from)
        .attr("to", to)
        .shape_text();
  };
  EXPECT_EQ(shape({2, 3}, DType::c64, 1), "2x3x2");
  EXPECT_EQ(shape({2, 3, 2}, DType::f32, 14), "2x3");
  EXPECT_EQ(shape({4}, DType::f32, 6), "4");
  EXPECT_NE(shape({2, 3}, DType::f32, 14).find("last axis of 2"), std::string::npos);
}

TEST(BitCast, ReadsTheSameBitsAsAnotherType) {
  const auto bits = TestNode("BitCast", 26).floats({2}, {1.0f, -0.0f}).attr("to", int64_t{6});
  auto context = TestNode(bits).infer();
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(context->outputs[0].dtype, DType::i32);
  const auto y = TestNode(bits).evaluate();  // the test reads them as floats again
  EXPECT_EQ(std::bit_cast<uint32_t>(y[0]), 0x3f800000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(y[1]), 0x80000000u);
  EXPECT_NE(TestNode("BitCast", 26).shape({2}).attr("to", int64_t{7}).shape_text().find("as many"),
            std::string::npos);
}

TEST(Reshape, CopiesZerosAndFillsTheHole) {
  EXPECT_EQ(TestNode("Reshape").shape({2, 3, 4}).ints({0, -1}).shape_text(), "2x12");
  EXPECT_EQ(
      TestNode("Reshape", 14).shape({0, 3}).ints({3, 0}).attr("allowzero", int64_t{1}).shape_text(),
      "3x0");
  EXPECT_EQ(TestNode("Reshape").shape({-1, 512, 1, 1}).ints({-1, 512}).shape_text(), "?x512");
  EXPECT_EQ(TestNode("Reshape", 1).shape({2, 3}).attr("shape", Ints{6}).shape_text(), "6");
  EXPECT_EQ(TestNode("Reshape").floats({2, 2}, {1, 2, 3, 4}).ints({4}).evaluate(),
            (std::vector<float>{1, 2, 3, 4}));
}

TEST(Reshape, RefusesOtherElementCounts) {
  EXPECT_NE(TestNode("Reshape").shape({2, 3}).ints({4, 2}).shape_text().find("has 6 elements"),
            std::string::npos);
  EXPECT_NE(TestNode("Reshape").shape({2, 3}).ints({-1, -1}).shape_text().find("more than once"),
            std::string::npos);
  EXPECT_NE(TestNode("Reshape").shape({2, 3}).ints({-1, 4}).shape_text().find("do not fill"),
            std::string::npos);
  EXPECT_NE(TestNode("Reshape")
                .shape({2, 3})
                .ints({int64_t{1} << 40, int64_t{1} << 40})
                .shape_text()
                .find("too large"),
            std::string::npos);
}

TEST(Flatten, MakesAMatrixAtTheAxis) {
  EXPECT_EQ(TestNode("Flatten").shape({2, 3, 4, 5}).shape_text(), "2x60");
  EXPECT_EQ(TestNode("Flatten").shape({2, 3, 4}).attr("axis", int64_t{0}).shape_text(), "1x24");
  EXPECT_EQ(TestNode("Flatten").shape({2, 3, 4}).attr("axis", int64_t{-1}).shape_text(), "6x4");
}

TEST(Squeeze, AxesComeFromAttributeOrInput) {
  EXPECT_EQ(TestNode("Squeeze", 11).shape({1, 3, 1}).attr("axes", Ints{-1}).shape_text(), "1x3");
  EXPECT_EQ(TestNode("Squeeze", 13).shape({1, 3, 1}).ints({0}).shape_text(), "3x1");
  EXPECT_EQ(TestNode("Squeeze", 13).shape({1, 3, 1}).shape_text(), "3");
  EXPECT_EQ(TestNode("Unsqueeze", 13).shape({3}).ints({0, -1}).shape_text(), "1x3x1");
}

TEST(Concat, JoinsAlongTheAxis) {
  EXPECT_EQ(TestNode("Concat")
                .floats({2, 1}, {1, 2})
                .floats({2, 2}, {3, 4, 5, 6})
                .attr("axis", int64_t{1})
                .evaluate(),
            (std::vector<float>{1, 3, 4, 2, 5, 6}));
  EXPECT_NE(TestNode("Concat")
                .shape({2, 1})
                .shape({3, 2})
                .attr("axis", int64_t{1})
                .shape_text()
                .find("except on axis 1"),
            std::string::npos);
}

TEST(Transpose, PermutesAndReversesByDefault) {
  EXPECT_EQ(TestNode("Transpose").floats({2, 3}, {1, 2, 3, 4, 5, 6}).evaluate(),
            (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(TestNode("Transpose").shape({2, 3, 4, 5}).attr("perm", Ints{0, 2, 3, 1}).shape_text(),
            "2x4x5x3");
  EXPECT_NE(TestNode("Transpose").shape({2, 3}).attr("perm", Ints{0, 0}).shape_text().find("once"),
            std::string::npos);
}

TEST(Dropout, PassesItsInputAtInference) {
  EXPECT_EQ(TestNode("Dropout", 13).floats({2}, {1, 2}).evaluate(), (std::vector<float>{1, 2}));
}

TEST(DataMovement, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "Transpose shape=3x4x5x6 perm=0,2,3,1",
          "Transpose shape=3x4x5x6 perm=3,0,2,1 dtype=uint8",
          "Transpose shape=2x1x7 perm=2,0,1 dtype=float64",
          "Transpose shape=0x3 perm=1,0",
          "Concat shape=1x32x3x5,1x16x3x5 axis=1",
          "Concat shape=2x5x3,2x7x3,2x1x3 axis=1",
          "Concat shape=3x2,0x2 axis=0",
          "Flatten shape=1x64x3x3",
          "Reshape shape=2x6 ints=1:3,4",
          "Identity shape=5x5 dtype=bool",
          "Dropout shape=3x4 outputs=2",
      },
      11);
}

TEST(Registry, UnknownOperatorsAreNamed) {
  EXPECT_NE(TestNode("FancyOp").shape({1}).shape_text().find("operator FancyOp"),
            std::string::npos);
  EXPECT_NE(TestNode("Relu", 1).shape({1}).shape_text().find("from opset 6"), std::string::npos);
}

TEST(Registry, TypesAndOperandCountsAreChecked) {
  EXPECT_NE(TestNode("Sigmoid").shape({1}, DType::i32).shape_text().find("has type int32"),
            std::string::npos);
  EXPECT_NE(
      TestNode("Add").shape({1}).shape({1}, DType::f16).shape_text().find("expected the same"),
      std::string::npos);
  EXPECT_NE(TestNode("Add").shape({1}).shape_text().find("lacks input 1"), std::string::npos);
  EXPECT_NE(TestNode("Relu").shape({1}).shape({1}).shape_text().find("has 2 inputs"),
            std::string::npos);
}

TEST(Registry, EveryOperatorEndsWithAReferenceThatTakesItsTypes) {
  for (const OpSchema& schema : Registry::instance().schemas()) {
    if (schema.is_flow) continue;  // the executor does the work
    const auto kernels = Registry::instance().kernels(schema.name, schema.domain);
    ASSERT_FALSE(kernels.empty()) << schema.name;
    EXPECT_EQ(kernels.back()->can_run, nullptr) << schema.name;
  }
}

}  // namespace
}  // namespace anynpu::ops::shape
