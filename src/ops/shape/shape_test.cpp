// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::shape {
namespace {

using Floats = std::vector<float>;

TEST(Slice, CutsWithStepsAndNegativeIndices) {
  const Floats x = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(
      TestNode("Slice").floats({6}, x).ints({-1}).ints({INT64_MIN}).ints({0}).ints({-2}).evaluate(),
      (Floats{5, 3, 1}));
  EXPECT_EQ(TestNode("Slice", 9)
                .floats({6}, x)
                .attr("starts", Ints{1})
                .attr("ends", Ints{1000})
                .evaluate(),
            (Floats{1, 2, 3, 4, 5}));
  EXPECT_EQ(TestNode("Slice").shape({6}).ints({4}).ints({2}).shape_text(), "0");
  EXPECT_NE(TestNode("Slice").shape({6}).ints({0}).ints({2}).ints({0}).ints({0}).shape_text().find(
                "step is 0"),
            std::string::npos);
}

TEST(Split, RefusesSizesThatDoNotCover) {
  TestNode node("Split", 13);
  node.node.outputs = {1000, 1001};
  EXPECT_NE(node.shape({5}).ints({2, 2}).shape_text().find("sizes"), std::string::npos);
}

TEST(Expand, AndTileRepeat) {
  EXPECT_EQ(TestNode("Expand").floats({2, 1}, {1, 2}).ints({2, 2}).evaluate(),
            (Floats{1, 1, 2, 2}));
  EXPECT_EQ(TestNode("Tile").floats({2}, {1, 2}).ints({2}).evaluate(), (Floats{1, 2, 1, 2}));
  EXPECT_NE(TestNode("Tile").shape({2}).ints({2, 2}).shape_text().find("one for each axis"),
            std::string::npos);
}

TEST(Pad, HasFourModes) {
  const auto pad = [](const char* mode) {
    return TestNode("Pad", 19)
        .floats({3}, {1, 2, 3})
        .ints({2, 2})
        .attr("mode", std::string(mode))
        .evaluate();
  };
  EXPECT_EQ(pad("constant"), (Floats{0, 0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(pad("reflect"), (Floats{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(pad("edge"), (Floats{1, 1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(pad("wrap"), (Floats{2, 3, 1, 2, 3, 1, 2}));
}

TEST(Pad, NegativeNumbersCrop) {
  EXPECT_EQ(TestNode("Pad").floats({4}, {1, 2, 3, 4}).ints({-1, 1}).evaluate(),
            (Floats{2, 3, 4, 0}));
  EXPECT_NE(TestNode("Pad").shape({2}).ints({-2, -1}).shape_text().find("do not fit"),
            std::string::npos);
}

TEST(DepthToSpace, InvertsSpaceToDepth) {
  const Floats x = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto deep =
      TestNode("SpaceToDepth").floats({1, 1, 2, 4}, x).attr("blocksize", int64_t{2}).evaluate();
  EXPECT_EQ(deep, (Floats{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(
      TestNode("DepthToSpace").floats({1, 4, 1, 2}, deep).attr("blocksize", int64_t{2}).evaluate(),
      x);
}

TEST(Trilu, TakesDiagonalsFarOutsideAndSeveralMatrices) {
  constexpr int64_t kRows = 3, kColumns = 4;
  Floats x(2 * kRows * kColumns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  for (int64_t k : {INT64_MIN, int64_t{-4}, int64_t{-3}, int64_t{-2}, int64_t{-1}, int64_t{0},
                    int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{5}, INT64_MAX}) {
    for (int64_t upper : {0, 1}) {
      Floats expected = x;
      for (size_t i = 0; i < x.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t side = at % kColumns - at / kColumns % kRows;
        if (upper != 0 ? side < k : side > k) expected[i] = 0;
      }
      EXPECT_EQ(TestNode("Trilu", 14)
                    .floats({2, kRows, kColumns}, x)
                    .ints({}, {k})
                    .attr("upper", upper)
                    .evaluate(),
                expected)
          << k << ' ' << upper;
    }
  }
}

TEST(Trilu, KeepsOneSideOfADiagonal) {
  EXPECT_EQ(TestNode("Trilu", 14).floats({2, 2}, {1, 2, 3, 4}).evaluate(), (Floats{1, 2, 0, 4}));
}

TEST(Range, CountsByItsStep) {
  EXPECT_EQ(TestNode("Range").floats({}, {1}).floats({}, {2}).floats({}, {0.5f}).evaluate(),
            (Floats{1, 1.5f}));
}

TEST(ConstantOfShape, RefusesANegativeExtent) {
  EXPECT_NE(TestNode("ConstantOfShape").ints({2, -1}).shape_text().find("negative"),
            std::string::npos);
}

TEST(Pad, AnEmptyAxisIsFilledWhole) {
  EXPECT_EQ(TestNode("Pad", 13).floats({2, 0}, {}).ints({4}, {0, 0, 0, 3}).evaluate(),
            Floats(6, 0));
}

TEST(ReverseSequence, AxesAtTheEndOfTheirTypeAreRefused) {
  const std::string said = TestNode("ReverseSequence", 10)
                               .shape({4, 4})
                               .shape({4}, DType::i64)
                               .attr("batch_axis", int64_t{1})
                               .attr("time_axis", INT64_MAX)
                               .shape_text();
  EXPECT_NE(said.find("expected 0 and 1"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::ops::shape
