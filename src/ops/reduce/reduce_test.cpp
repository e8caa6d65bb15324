// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/test_node.h"

namespace anynpu::ops::reduce {
namespace {

using Floats = std::vector<float>;
const Floats kSix = {1, 2, 3, 4, 5, 6};

TEST(Reduce, TakesAxesFromTheAttributeOrTheInput) {
  EXPECT_EQ(TestNode("ReduceSum", 11).floats({2, 3}, kSix).attr("axes", Ints{1}).evaluate(),
            (Floats{6, 15}));
  EXPECT_EQ(TestNode("ReduceSum", 13).floats({2, 3}, kSix).ints({0}).evaluate(), (Floats{5, 7, 9}));
  EXPECT_EQ(TestNode("ReduceMean", 18).floats({2, 3}, kSix).ints({-1}).evaluate(), (Floats{2, 5}));
}

TEST(Reduce, KeepsOrDropsTheAxis) {
  EXPECT_EQ(TestNode("ReduceMax", 18).shape({2, 3, 4}).ints({1}).shape_text(), "2x1x4");
  EXPECT_EQ(TestNode("ReduceMax", 18)
                .shape({2, 3, 4})
                .ints({1})
                .attr("keepdims", int64_t{0})
                .shape_text(),
            "2x4");
}

TEST(Reduce, NoAxesMeansAllOrNone) {
  EXPECT_EQ(TestNode("ReduceProd", 18).floats({3}, {2, 3, 4}).evaluate(), (Floats{24}));
  EXPECT_EQ(TestNode("ReduceProd", 18)
                .floats({2}, {2, 3})
                .attr("noop_with_empty_axes", int64_t{1})
                .evaluate(),
            (Floats{2, 3}));
}

TEST(Reduce, ShapeIsOpenWhileTheAxesAreNoConstant) {
  auto context = TestNode("ReduceSum", 13).shape({2, 3}).shape({1}, DType::i64).infer();
  ASSERT_TRUE(context.ok());
  EXPECT_FALSE(context->outputs[0].has_shape);
}

TEST(ReduceLogSumExp, DoesNotOverflow) {
  const auto y = TestNode("ReduceLogSumExp", 18).floats({2}, {1000, 1000}).evaluate();
  EXPECT_NEAR(y[0], 1000 + std::log(2.0), 1e-3);
}

TEST(ReduceLogSumExp, KeepsNanBesideInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(
      TestNode("ReduceLogSumExp", 18).floats({3}, {1, inf, std::nanf("")}).evaluate()[0]));
  EXPECT_EQ(TestNode("ReduceLogSumExp", 18).floats({2}, {1, inf}).evaluate(), (Floats{inf}));
}

TEST(Reduce, LongGroupsInPartsGiveWhatEveryElementGives) {
  for (const size_t length : {1, 7, 31, 32, 33, 63, 64, 65, 127, 255, 70'001, 1'000'003}) {
    Floats x(length);
    double sum = 0, squares = 0, sizes = 0;
    for (size_t i = 0; i < length; ++i) {
      x[i] = static_cast<float>(static_cast<int>(i * 7919 % 2003) - 1001) / 64;
      sum += x[i], squares += double{x[i]} * x[i], sizes += std::fabs(x[i]);  // exact: few bits
    }
    const auto of = [&](const char* op) {
      return TestNode(op, 18).floats({static_cast<int64_t>(length)}, x).evaluate()[0];
    };
    EXPECT_EQ(TestNode("ReduceSum", 13).floats({static_cast<int64_t>(length)}, x).evaluate()[0],
              static_cast<float>(sum));
    EXPECT_EQ(of("ReduceSumSquare"), static_cast<float>(squares));
    EXPECT_EQ(of("ReduceL1"), static_cast<float>(sizes));
    EXPECT_EQ(of("ReduceL2"), static_cast<float>(std::sqrt(squares)));
    EXPECT_EQ(of("ReduceMean"), static_cast<float>(sum / static_cast<double>(length)));
    EXPECT_EQ(of("ReduceMax"), *std::max_element(x.begin(), x.end()));
    EXPECT_EQ(of("ReduceMin"), *std::min_element(x.begin(), x.end()));
    for (const size_t at : {size_t{0}, length / 2, length - 1}) {
      const float before = x[at];
      x[at] = at % 2 == 0 ? std::nanf("") : -std::nanf("");
      EXPECT_TRUE(std::isnan(of("ReduceMax"))) << length << " " << at;
      EXPECT_TRUE(std::isnan(of("ReduceMin"))) << length << " " << at;
      EXPECT_TRUE(std::isnan(of("ReduceL1"))) << length << " " << at;
      x[at] = before;
    }
    x[length / 2] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(of("ReduceMin"), x[length / 2]);
    EXPECT_EQ(of("ReduceL1"), -x[length / 2]);
  }
}

TEST(Reduce, GroupsOfSeveralRunsGiveWhatEveryElementGives) {
  Floats x(size_t{3} * 4 * 70);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 2003) / 64;
  Floats sums(4, 0), most(4, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = i / 70 % 4;
    sums[at] += x[i], most[at] = std::max(most[at], x[i]);
  }
  EXPECT_EQ(TestNode("ReduceSum", 13).floats({3, 4, 70}, x).ints({0, 2}).evaluate(), sums);
  EXPECT_EQ(TestNode("ReduceMax", 18).floats({3, 4, 70}, x).ints({0, 2}).evaluate(), most);
}

TEST(Reduce, OuterAxesGiveWhatEachColumnGives) {
  for (const int64_t columns : {1, 7, 8, 31, 33, 70, 1030}) {
    const int64_t rows = 19;
    Floats x(static_cast<size_t>(3 * rows * columns));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 2003) / 64;
    Floats sums, most;
    for (int64_t b = 0; b < 3; ++b) {
      for (int64_t c = 0; c < columns; ++c) {
        float sum = 0, top = 0;
        for (int64_t r = 0; r < rows; ++r) {
          const float v = x[static_cast<size_t>((b * rows + r) * columns + c)];
          sum += v, top = std::max(top, v);
        }
        sums.push_back(sum), most.push_back(top);
      }
    }
    const Shape shape{3, rows, columns};
    EXPECT_EQ(TestNode("ReduceSum", 13).floats(shape, x).ints({1}).evaluate(), sums) << columns;
    EXPECT_EQ(TestNode("ReduceMax", 18).floats(shape, x).ints({1}).evaluate(), most) << columns;
    const auto both = TestNode("ReduceMax", 18).floats(shape, x).ints({0, 1}).evaluate();
    for (size_t c = 0; c < both.size(); ++c) {
      const auto at = [&](size_t b) { return most[b * static_cast<size_t>(columns) + c]; };
      EXPECT_EQ(both[c], std::max({at(0), at(1), at(2)}));
    }
  }
}

TEST(Reduce, RefusesAnAxisOutside) {
  EXPECT_NE(TestNode("ReduceSum", 13).shape({2, 3}).ints({2}).shape_text().find("axis 2"),
            std::string::npos);
}

TEST(Hardmax, MarksTheFirstLargest) {
  EXPECT_EQ(TestNode("Hardmax").floats({1, 3}, {2, 5, 5}).evaluate(), (Floats{0, 1, 0}));
}

TEST(CumProd, RunsForwardsBackwardsAndExclusive) {
  const auto node = [](int64_t exclusive, int64_t reverse) {
    return TestNode("CumProd", 26)
        .floats({3}, {2, 3, 4})
        .ints({0})
        .attr("exclusive", exclusive)
        .attr("reverse", reverse)
        .evaluate();
  };
  EXPECT_EQ(node(0, 0), (Floats{2, 6, 24}));
  EXPECT_EQ(node(1, 0), (Floats{1, 2, 6}));
  EXPECT_EQ(node(0, 1), (Floats{24, 12, 4}));
  EXPECT_EQ(node(1, 1), (Floats{12, 4, 1}));
}

TEST(CumSum, RunsForwardsBackwardsAndExclusive) {
  EXPECT_EQ(TestNode("CumSum").floats({3}, {1, 2, 3}).ints({0}).evaluate(), (Floats{1, 3, 6}));
  EXPECT_EQ(TestNode("CumSum")
                .floats({3}, {1, 2, 3})
                .ints({0})
                .attr("reverse", int64_t{1})
                .attr("exclusive", int64_t{1})
                .evaluate(),
            (Floats{5, 3, 0}));
}

TEST(Reduce, EveryKernelAgreesWithTheReference) {
  check_cases({"ReduceSum shape=3x40x7 opset=11 axes=0,2", "ReduceMax shape=5x700 opset=11 axes=1",
               "ArgMax shape=4x9 axis=1", "ReduceSum shape=2x0x3 opset=11 axes=1"});
}

}  // namespace
}  // namespace anynpu::ops::reduce
