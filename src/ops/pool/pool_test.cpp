// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/simd/isa.h"
#include "ops/test_node.h"

namespace anynpu::ops::pool {
namespace {

const std::vector<float> kNine = {1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(MaxPool, TakesTheLargestAndIgnoresPads) {
  EXPECT_EQ(TestNode("MaxPool")
                .floats({1, 1, 3, 3}, {-1, -2, -3, -4, -5, -6, -7, -8, -9})
                .attr("kernel_shape", Ints{2, 2})
                .attr("pads", Ints{1, 1, 0, 0})
                .attr("strides", Ints{2, 2})
                .evaluate(),
            (std::vector<float>{-1, -2, -4, -5}));
}

TEST(MaxPool, CeilModeAddsThePartWindowButNoneInThePads) {
  EXPECT_EQ(TestNode("MaxPool")
                .floats({1, 1, 4}, {1, 2, 3, 4})
                .attr("kernel_shape", Ints{3})
                .attr("strides", Ints{2})
                .attr("ceil_mode", int64_t{1})
                .evaluate(),
            (std::vector<float>{3, 4}));
  EXPECT_EQ(TestNode("MaxPool")
                .shape({1, 1, 2})
                .attr("kernel_shape", Ints{1})
                .attr("strides", Ints{2})
                .attr("ceil_mode", int64_t{1})
                .shape_text(),
            "1x1x1");
}

TEST(Pool, AKernelLargerThanTheInputHasOneWindowWhenRoundedUp) {
  const auto run = [](const char* op, int64_t ceil) {
    return TestNode(op)
        .floats({1, 1, 1, 4}, {4, 2, 3, 9})
        .attr("kernel_shape", Ints{2, 2})
        .attr("strides", Ints{2, 2})
        .attr("ceil_mode", ceil);
  };
  EXPECT_EQ(run("MaxPool", 1).evaluate(), (std::vector<float>{4, 9}));
  EXPECT_EQ(run("AveragePool", 1).evaluate(), (std::vector<float>{3, 6}));
  EXPECT_NE(run("MaxPool", 0).shape_text().find("does not fit"), std::string::npos);
}

TEST(AveragePool, CountsPadsOnlyWhenAskedTo) {
  const auto run = [](int64_t include) {
    return TestNode("AveragePool")
        .floats({1, 1, 3, 3}, kNine)
        .attr("kernel_shape", Ints{3, 3})
        .attr("pads", Ints{1, 1, 1, 1})
        .attr("strides", Ints{2, 2})
        .attr("count_include_pad", include)
        .evaluate();
  };
  EXPECT_EQ(run(0), (std::vector<float>{3, 4, 6, 7}));
  EXPECT_FLOAT_EQ(run(1)[0], 12.0f / 9.0f);
}

TEST(GlobalPool, ReducesEachChannelToOneValue) {
  EXPECT_EQ(TestNode("GlobalAveragePool").floats({1, 1, 3, 3}, kNine).evaluate(),
            (std::vector<float>{5}));
  EXPECT_EQ(TestNode("GlobalMaxPool").floats({1, 1, 3, 3}, kNine).evaluate(),
            (std::vector<float>{9}));
  EXPECT_EQ(TestNode("GlobalAveragePool").shape({-1, 64, -1, 7}).shape_text(), "?x64x1x1");
}

TEST(MaxPool, RefusesPadsThatReachTheKernel) {
  EXPECT_NE(TestNode("MaxPool")
                .shape({1, 1, 8})
                .attr("kernel_shape", Ints{2})
                .attr("pads", Ints{2, 0})
                .shape_text()
                .find("pads alone"),
            std::string::npos);
  EXPECT_NE(TestNode("MaxPool").shape({1, 1, 8}).shape_text().find("'kernel_shape'"),
            std::string::npos);
}

TEST(Pool, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "MaxPool shape=1x64x15x17 kernel_shape=3,3 strides=2,2 pads=1,1,1,1",
          "MaxPool shape=2x17x9x9 kernel_shape=2,3 ceil_mode=1 strides=2,2",
          "MaxPool shape=1x16x12x12 kernel_shape=3,3 dilations=2,2",
          "MaxPool shape=1x3x8x8 kernel_shape=2,2 outputs=2 storage_order=1",
          "MaxPool shape=1x4x7x7x7 kernel_shape=2,2,2 strides=2,2,2",
          "MaxPool shape=1x3x8x8 kernel_shape=2,2 dtype=uint8",
          "MaxPool shape=2x33x15x17 kernel_shape=3,3 strides=2,2 pads=1,1,1,1 dtype=uint8",
          "MaxPool shape=1x20x31 kernel_shape=3 dilations=2 pads=2,1 dtype=int8",
          "AveragePool shape=1x20x11x13 kernel_shape=3,3 pads=1,1,1,1 strides=2,2",
          "AveragePool shape=1x20x11x13 kernel_shape=3,3 pads=1,1,1,1 count_include_pad=1 "
          "ceil_mode=1 strides=2,2",
          "AveragePool shape=1x8x32 kernel_shape=4 auto_pad=SAME_LOWER",
          "GlobalAveragePool shape=2x33x7x7",
          "GlobalMaxPool shape=2x33x7x7 dtype=float16",
          "GlobalAveragePool shape=1x48x5x4x3",
          "GlobalMaxPool shape=3x16x1x1",
          "GlobalAveragePool shape=1x19x300",
          "MaxPool shape=2x24x31 kernel_shape=3 strides=2 pads=1,1",
          "AveragePool shape=1x16x9x9 kernel_shape=3,3 dilations=2,2 opset=19 pads=2,1,0,2",
          "AveragePool shape=1x16x9x9 kernel_shape=2,5 pads=1,2,0,2 count_include_pad=1",
          "MaxPool shape=0x16x9x9 kernel_shape=2,2",
          "MaxPool shape=2x3x20x20 kernel_shape=5,5 pads=2,2,2,2",
          "MaxPool shape=1x3x19x37 kernel_shape=3,3 strides=2,3 pads=1,1,1,1 ceil_mode=1",
          "MaxPool shape=1x3x5x9x33 kernel_shape=2,3,3 strides=1,2,1 pads=1,1,1,0,1,1",
          "MaxPool shape=1x2x40 kernel_shape=7 dilations=3 pads=6,6",
          "MaxPool shape=1x2x5 kernel_shape=2 strides=3 dilations=3 ceil_mode=1 pads=1,1",
          "MaxPool shape=1x2x3x5000 kernel_shape=2,2",
          "AveragePool shape=1x3x6x7x35 kernel_shape=2,3,3 strides=1,2,2 pads=1,1,1,0,1,1",
          "AveragePool shape=2x3x40 kernel_shape=5 strides=2 pads=2,1 ceil_mode=1 "
          "count_include_pad=1 dtype=bfloat16",
          "AveragePool shape=1x2x3x17 kernel_shape=3,17",
          "MaxPool shape=2x33x15x29 kernel_shape=3,3 strides=2,2 pads=1,1,1,1 dtype=bfloat16",
          "MaxPool shape=1x16x9x20 kernel_shape=2,2 strides=2,2 ceil_mode=1 dtype=bfloat16",
          "MaxPool shape=1x20x12x12 kernel_shape=3,3 dilations=2,2 strides=3,1 dtype=bfloat16",
          "MaxPool shape=2x24x31 kernel_shape=5 pads=2,2 dtype=bfloat16",
          "AveragePool shape=1x20x11x13 kernel_shape=3,3 pads=1,1,1,1 count_include_pad=1 "
          "ceil_mode=1 strides=2,2 dtype=bfloat16",
          "GlobalAveragePool shape=2x33x7x7 dtype=bfloat16",
          "GlobalMaxPool shape=1x48x5x4x3 dtype=bfloat16",
          "MaxPool shape=0x16x9x9 kernel_shape=2,2 dtype=bfloat16",
      },
      80);
}

TEST(Pool, TakesBlocksOfBfloat16AsTheyAre) {
  const auto op_case = OpCase::parse("MaxPool shape=1x32x8x8 kernel_shape=2,2 dtype=bfloat16");
  const auto chosen = [&](Layout layout) {
    return (*choose_kernel(*op_case->context(layout)))->name;
  };
  EXPECT_EQ(chosen(Layout::blocked16) == "pool_avx512", check_isa(Isa::avx512).ok());
  EXPECT_EQ(chosen(Layout::plain), "widened");
}

TEST(LpPool, TakesTheNormOfEachWindow) {
  EXPECT_EQ(TestNode("LpPool").floats({1, 1, 2}, {3, 4}).attr("kernel_shape", Ints{2}).evaluate(),
            (std::vector<float>{5}));
}

TEST(MaxUnpool, AKernelAtTheEndOfItsTypeIsRefused) {
  const std::string said = TestNode("MaxUnpool", 11)
                               .shape({1, 1, 2, 2})
                               .shape({1, 1, 2, 2}, DType::i64)
                               .attr("kernel_shape", Ints{INT64_MAX, 2})
                               .shape_text();
  EXPECT_NE(said.find("expected 0 to 2147483647"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::ops::pool
