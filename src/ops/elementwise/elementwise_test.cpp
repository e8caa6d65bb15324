// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/broadcast.h"
#include "ops/test_node.h"
#include "tensor/half.h"

namespace anynpu::ops::elementwise {
namespace {

TEST(Relu, ClearsNegativesAndKeepsNaN) {
  const auto y = TestNode("Relu").floats({4}, {-1, 0, 2, NAN}).evaluate();
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[2], 2);
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST(Clip, TakesBoundsFromAttributesUpToOpset10) {
  EXPECT_EQ(
      TestNode("Clip", 10).floats({3}, {-1, 3, 9}).attr("min", 0.0f).attr("max", 6.0f).evaluate(),
      (std::vector<float>{0, 3, 6}));
}

TEST(Clip, TakesBoundsFromInputsFromOpset11) {
  EXPECT_EQ(TestNode("Clip", 11).floats({3}, {-1, 3, 9}).absent().floats({}, {6}).evaluate(),
            (std::vector<float>{-1, 3, 6}));
  EXPECT_NE(TestNode("Clip", 11)
                .floats({3}, {-1, 3, 9})
                .attr("min", 0.0f)
                .shape_text()
                .find("attribute 'min'"),
            std::string::npos);
}

TEST(Add, BroadcastsBothSides) {
  EXPECT_EQ(TestNode("Add").floats({2, 1}, {10, 20}).floats({3}, {1, 2, 3}).evaluate(),
            (std::vector<float>{11, 12, 13, 21, 22, 23}));
  EXPECT_EQ(TestNode("Add").shape({1, 64, -1, 7}).shape({64, 1, 1}).shape_text(), "1x64x?x7");
  EXPECT_NE(TestNode("Add").shape({2, 3}).shape({4}).shape_text().find("extents 3 and 4"),
            std::string::npos);
}

TEST(Swish, MultipliesByTheSigmoidOfAlphaTimesX) {
  const auto y = TestNode("Swish", 24).floats({3}, {0, 2, -1}).attr("alpha", 0.5f).evaluate();
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 2 / (1 + std::exp(-1.0)), 1e-6);
  EXPECT_NEAR(y[2], -1 / (1 + std::exp(0.5)), 1e-6);
}

TEST(SwiGLU, GatesTheSecondTensorByTheSwishOfTheFirst) {
  const auto y = TestNode("SwiGLU", 28).floats({2}, {1, 2}).floats({2}, {3, -5}).evaluate();
  EXPECT_NEAR(y[0], 3 / (1 + std::exp(-1.0)), 1e-6);
  EXPECT_NEAR(y[1], -10 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_EQ(TestNode("SwiGLU", 28).shape({-1, 4}).shape({3, 4}).shape_text(), "3x4");
  EXPECT_NE(TestNode("SwiGLU", 28).shape({2, 3}).shape({3}).shape_text().find("not broadcast"),
            std::string::npos);
}

TEST(Swish, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "Swish shape=1x17x5x3 opset=24",
          "Swish shape=9001 alpha=1.702 opset=24",
          "Swish shape=2x33 opset=24 dtype=bfloat16",
          "Swish shape=2x33 opset=24 dtype=float64",
          "Swish shape=0x3 opset=24",
          "SwiGLU shape=3x700,3x700 opset=28",
          "SwiGLU shape=3x7,3x7 alpha=-2 opset=28 dtype=float16",
      },
      12);
}

TEST(Div, OfIntegersByZeroDoesNotTrap) {
  auto op_case = OpCase::parse("Div shape=6,6 dtype=int32");
  ASSERT_TRUE(op_case.ok());
  const int32_t a[6] = {7, std::numeric_limits<int32_t>::min(), 5, -9, 0, 1};
  const int32_t b[6] = {0, -1, 2, 2, 3, 1};
  std::memcpy(op_case->data()[0].data(), a, sizeof a);
  std::memcpy(op_case->data()[1].data(), b, sizeof b);
  const auto y = op_case->run(*Registry::instance().kernels("Div").back(), Layout::plain);
  ASSERT_TRUE(y.ok());
  int32_t values[6];
  std::memcpy(values, (*y)[0].data(), sizeof values);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], std::numeric_limits<int32_t>::min());
  EXPECT_EQ(values[2], 2);
  EXPECT_EQ(values[3], -4);
}

TEST(BroadcastLoop, JoinsDimensionsThatContinueEachOther) {
  const BroadcastLoop same = broadcast_loop({2, 3, 4}, {2, 3, 4}, {2, 3, 4});
  EXPECT_EQ(same.outer, 1);
  EXPECT_EQ(same.inner, 24);
  const BroadcastLoop bias = broadcast_loop({2, 3, 4, 5}, {3, 1, 1}, {2, 3, 4, 5});
  EXPECT_EQ(bias.outer, 6);
  EXPECT_EQ(bias.inner, 20);
  EXPECT_EQ(bias.inner_b, 0);
}

TEST(Elementwise, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "Relu shape=3x1000x7",
          "Relu shape=1x17x5x3",
          "Relu shape=0x4",
          "Relu shape=scalar",
          "Sigmoid shape=1x20x5x5",
          "Sigmoid shape=0x3",
          "Tanh shape=33 dtype=float16",
          "Tanh shape=3x41",
          "Exp shape=1x17x3x5",
          "Exp shape=scalar",
          "Erf shape=2x10001",
          "Gelu shape=3x100 opset=20",
          "Gelu shape=77 approximate=tanh opset=20",
          "LeakyRelu shape=1x16x3x3 alpha=0.5",
          "Clip shape=1x24x3x5 opset=6 min=-0.5 max=0.5",
          "Clip shape=2x9x3,scalar,_ opset=13",
          "Add shape=1x40x5x6,1x40x5x6",
          "Add shape=1x40x5x6,40x1x1",
          "Add shape=3x1x5,4x1",
          "Add shape=scalar,5x3",
          "Sub shape=1x16x9,1x16x9",
          "Mul shape=70000,1 dtype=int64",
          "Mul shape=2x32x3x3,2x32x1x1",
          "Div shape=1x5x3x3,1x5x3x3 dtype=bfloat16",
          "Add shape=0x3,1x3",
      },
      24);
}

TEST(Binary, OneNumberForEachChannelKeepsBlocks) {
  check_cases(
      {
          "Mul shape=2x40x9x7,2x40x1x1",
          "Mul shape=1x16x1x1,3x16x5x4",
          "Add shape=2x17x3x3x2,1x17x1x1x1",
          "Sub shape=2x33x1x1,2x33x5x4",
          "Sub shape=1x33x1x1,3x33x5x4 dtype=bfloat16",
          "Mul shape=2x40x19x17,2x40x1x1 dtype=float16",
          "Div shape=2x40x9x7,2x40x1x1",
          "Mul shape=0x40x9x7,1x40x1x1",
          "Mul shape=2x40x0x7,2x40x1x1",
      },
      18);
}

TEST(Binary, ShortFloatsRoundOnceWhateverTheLength) {
  for (const char* text : {"Add shape=600,600 dtype=float16", "Add shape=600,1 dtype=float16",
                           "Add shape=1,600 dtype=float16"}) {
    const auto op_case = OpCase::parse(text);
    ASSERT_TRUE(op_case.ok());
    auto made = *op_case;
    std::vector<F16> x[2];
    for (size_t i = 0; i < 2; ++i) {
      x[i].resize(made.data()[i].size() / sizeof(F16));
      for (size_t k = 0; k < x[i].size(); ++k)
        x[i][k] = to_f16(static_cast<float>(k * k % 1023 + i) * 0.37f);
      std::memcpy(made.data()[i].data(), x[i].data(), made.data()[i].size());
    }
    const auto kernel = choose_kernel(*made.context());
    const auto y = made.run(**kernel, Layout::plain);
    ASSERT_TRUE(y.ok()) << y.status().to_string();
    for (size_t k = 0; k < 600; ++k) {
      F16 got;
      std::memcpy(&got, (*y)[0].data() + k * sizeof got, sizeof got);
      const float sum = to_float(x[0][k % x[0].size()]) + to_float(x[1][k % x[1].size()]);
      ASSERT_EQ(got.bits, to_f16(sum).bits) << text << " " << k;
    }
  }
}

}  // namespace
}  // namespace anynpu::ops::elementwise
