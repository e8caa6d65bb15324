// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/isa.h"
#include "ops/test_node.h"

namespace anynpu::ops::conv {
namespace {

TEST(CausalConvWithState, LooksAtThePastAndHandsItOn) {
  const auto node = [] {
    auto made = TestNode("CausalConvWithState", 27)
                    .floats({1, 1, 2}, {1, 2})
                    .floats({1, 1, 3}, {100, 10, 1});
    made.node.outputs = {1000, 1001};
    return made;
  };
  EXPECT_EQ(node().evaluate(), (std::vector<float>{1, 12}));
  auto stateful = node().floats({1}, {0.5f}).floats({1, 1, 2}, {3, 4});
  EXPECT_EQ(stateful.evaluate(), (std::vector<float>{341.5f, 412.5f}));
  const auto context = stateful.infer();
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(to_string(context->outputs[1].shape), "1x1x2");
  const auto outputs = evaluate(*context);
  ASSERT_TRUE(outputs.ok());
  float state[2];
  std::memcpy(state, (*outputs)[1].data(), sizeof state);
  EXPECT_EQ(state[0], 1);
  EXPECT_EQ(state[1], 2);
  EXPECT_NE(node().shape({2}).shape_text().find("bias 2"), std::string::npos);
}

TEST(Conv, SumsTheProductsUnderTheKernel) {
  EXPECT_EQ(TestNode("Conv")
                .floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})
                .floats({1, 1, 2, 2}, {1, 0, 0, -1})
                .floats({1}, {10})
                .evaluate(),
            (std::vector<float>{6, 6, 6, 6}));
}

TEST(Conv, PadsWithZerosAndSkipsByStride) {
  EXPECT_EQ(TestNode("Conv")
                .floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})
                .floats({1, 1, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1})
                .attr("pads", Ints{1, 1, 1, 1})
                .attr("strides", Ints{2, 2})
                .evaluate(),
            (std::vector<float>{12, 16, 24, 28}));
}

TEST(Conv, DilationSpreadsTheTaps) {
  EXPECT_EQ(TestNode("Conv")
                .floats({1, 1, 5}, {1, 2, 3, 4, 5})
                .floats({1, 1, 2}, {1, 1})
                .attr("dilations", Ints{2})
                .evaluate(),
            (std::vector<float>{4, 6, 8}));
}

TEST(Conv, GroupsSeeOnlyTheirChannels) {
  EXPECT_EQ(TestNode("Conv")
                .floats({1, 2, 1, 2}, {1, 2, 30, 40})
                .floats({2, 1, 1, 1}, {2, 3})
                .attr("group", int64_t{2})
                .evaluate(),
            (std::vector<float>{2, 4, 90, 120}));
}

TEST(Conv, ThreeSpatialDimensions) {
  EXPECT_EQ(TestNode("Conv")
                .floats({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
                .floats({1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1})
                .evaluate(),
            (std::vector<float>{36}));
}

TEST(Conv, AutoPadSamePutsTheOddPixelWhereItsNameSays) {
  const auto run = [](const char* mode) {
    return TestNode("Conv")
        .floats({1, 1, 4}, {1, 2, 3, 4})
        .floats({1, 1, 2}, {1, 10})
        .attr("auto_pad", std::string(mode))
        .evaluate();
  };
  EXPECT_EQ(run("SAME_UPPER"), (std::vector<float>{21, 32, 43, 4}));
  EXPECT_EQ(run("SAME_LOWER"), (std::vector<float>{10, 21, 32, 43}));
  EXPECT_EQ(run("VALID"), (std::vector<float>{21, 32, 43}));
}

TEST(FusedConv, AddsTheResidualBeforeTheActivation) {
  EXPECT_EQ(TestNode("FusedConv", 1, "anynpu")
                .floats({1, 1, 1, 3}, {1, 2, 3})
                .floats({1, 1, 1, 1}, {1})
                .absent()
                .floats({1, 1, 1, 3}, {-5, 0, 5})
                .attr("activation", std::string("Relu"))
                .evaluate(),
            (std::vector<float>{0, 2, 8}));
}

TEST(Conv, ShapeRuleKeepsDynamicExtents) {
  EXPECT_EQ(TestNode("Conv")
                .shape({-1, 3, 224, -1})
                .shape({64, 3, 7, 7})
                .attr("pads", Ints{3, 3, 3, 3})
                .attr("strides", Ints{2, 2})
                .shape_text(),
            "?x64x112x?");
}

TEST(Conv, RefusesWhatDoesNotFitWithASentence) {
  EXPECT_NE(TestNode("Conv")
                .shape({1, 63, 8, 8})
                .shape({64, 64, 3, 3})
                .shape_text()
                .find("input has 63 channels"),
            std::string::npos);
  EXPECT_NE(
      TestNode("Conv").shape({1, 3, 2, 2}).shape({8, 3, 5, 5}).shape_text().find("does not fit"),
      std::string::npos);
  EXPECT_NE(TestNode("Conv")
                .shape({1, 3, 8, 8})
                .shape({8, 3, 3, 3})
                .attr("strides", Ints{0, 1})
                .shape_text()
                .find("'strides'"),
            std::string::npos);
  EXPECT_NE(TestNode("Conv")
                .shape({1, 3, 8, 8})
                .shape({8, 3, 3, 3})
                .attr("pads", Ints{1, 1})
                .shape_text()
                .find("expected 4 values"),
            std::string::npos);
  EXPECT_NE(TestNode("Conv")
                .shape({1, 3, 8, 8})
                .shape({8, 3, 3, 3})
                .attr("group", int64_t{0})
                .shape_text()
                .find("group 0"),
            std::string::npos);
}

TEST(Conv, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "Conv shape=1x3x17x19,8x3x3x3,8 pads=1,1,1,1",
          "Conv shape=2x16x9x7,32x16x1x1,32",
          "Conv shape=1x3x33x31,24x3x7x7,24 pads=3,3,3,3 strides=2,2",
          "Conv shape=1x5x11,7x5x3,7 pads=1,1",
          "Conv shape=1x4x5x6x7,6x4x3x3x3,6 pads=1,1,1,1,1,1",
          "Conv shape=1x8x9x9,12x4x3x3,12 group=2 pads=1,0,1,2",
          "Conv shape=1x16x9x9,16x16x3x3 pads=2,2,2,2 dilations=2,2",
          "Conv shape=1x6x5x5,6x6x3x3,6 dtype=float16",
          "Conv shape=1x6x5x5,6x6x3x3,6 dtype=bfloat16",
          "Conv shape=1x6x5x5,6x6x3x3,6 dtype=float64",
          "Conv shape=0x3x8x8,4x3x3x3,4",
      },
      11);
}

TEST(Conv, WinogradTakesOddSizesPadsResidualsAndChannelsThatFillNoBlock) {
  check_cases(
      {
          "Conv shape=1x32x16x16,32x32x3x3,32 pads=1,1,1,1",
          "Conv shape=1x40x17x15,33x40x3x3,33 pads=1,1,1,1",
          "Conv shape=3x32x9x13,48x32x3x3",
          "Conv shape=2x64x15x14,80x64x3x3,80 pads=0,2,1,0",
          "FusedConv shape=1x48x15x17,64x48x3x3,64,1x64x15x17 pads=1,1,1,1 activation=Clip "
          "activation_min=0 activation_max=6 domain=anynpu opset=1",
      },
      20);
  const auto op_case = OpCase::parse("Conv shape=1x32x16x16,32x32x3x3,32 pads=1,1,1,1");
  const auto chosen = choose_kernel(*op_case->context());
  EXPECT_EQ((*chosen)->name == "winograd_avx512", check_isa(Isa::avx512).ok());
}

TEST(Conv, Im2colTakesAnyAxesAndWeightsOfTheRun) {
  check_cases(
      {
          "Conv shape=1x16x9x8x7,8x16x3x3x3,8 pads=1,1,1,1,1,1",
          "Conv shape=2x6x9x6x13,40x3x2x1x3,40 group=2 strides=2,1,2 pads=1,0,2,0,0,1",
          "Conv shape=1x32x5x9x8,32x1x3x3x3,32 pads=1,1,1,1,1,1 group=32",
          "Conv shape=2x19x6x9x8,19x1x5x1x3,19 pads=2,0,1,2,0,1 strides=2,1,2 group=19",
          "Conv shape=1x16x9x5x5,16x1x3x3x3 pads=5,0,0,5,0,0 dilations=2,1,1 group=16",
          "Conv shape=1x3x5x17x19,24x3x3x7x7,24 pads=1,3,3,1,3,3 strides=1,2,2",
          "Conv shape=2x24x4x7x9,40x24x1x1x1,40 strides=2,2,2",
          "Conv shape=1x32x6x7x5,16x16x3x1x1 pads=1,0,0,1,0,0 group=2 dilations=1,1,2",
          "Conv shape=1x4x7x7x7,4x1x3x3x3,4 group=4 dilations=1,2,3 pads=1,2,3,1,2,3",
          "Conv shape=1x8x3x4x3x5,17x8x2x2x2x2,17 pads=0,1,0,1,1,0,1,0",
          "Conv shape=1x300x1x1x1,61x300x1x1x1,61",
          "Conv shape=0x3x4x4x4,5x3x2x2x2,5",
          "Conv shape=1x33x17x15,47x33x3x3,47 pads=1,1,1,1 const=",
          "Conv shape=2x24x9x40,20x6x2x5,20 group=4 strides=2,3 pads=0,2,1,3 const=",
          "Conv shape=1x70x31,20x70x4,20 dilations=3 pads=7,8 const=",
          "Conv shape=1x300x6x6,3x300x1x1,3 const=",
          "Conv shape=1x700x5x5,9x700x1x1,9 const=",
          "FusedConv shape=1x8x6x7x5,9x8x3x3x3,9,1x9x6x7x5 pads=1,1,1,1,1,1 activation=Clip "
          "activation_min=-1 activation_max=2 domain=anynpu opset=1",
          "FusedConv shape=1x8x6x7,40x8x3x3,_,1x40x6x7 pads=1,1,1,1 activation=Relu domain=anynpu "
          "opset=1 const=",
          "Conv shape=1x16x9x8x7,8x16x3x3x3,8 pads=1,1,1,1,1,1 dtype=float16",
      },
      40);
}

// Taps that lie in the pads for all pixels of a tile are left out.
TEST(Conv, DilatedKernelsThatReachFarIntoThePads) {
  check_cases(
      {
          "Conv shape=1x32x16x16,48x32x3x3,48 pads=12,12,12,12 dilations=12,12",
          "Conv shape=1x32x16x16,48x32x3x3,48 pads=18,18,18,18 dilations=18,18",  // one tap is left
          "Conv shape=1x16x33x29,32x16x3x3 pads=6,6,6,6 dilations=6,6",
          "Conv shape=2x20x15x40,20x20x3x5,20 pads=8,16,8,16 dilations=8,8",
          "Conv shape=1x32x9x9,16x32x5x3,16 pads=8,4,8,4 dilations=4,4 strides=2,2",
          "Conv shape=1x16x6x6,16x16x3x3 pads=30,30,30,30 dilations=20,20",  // pixels without any
          "Conv shape=1x32x200,32x32x3,32 pads=64,64 dilations=64",
          "FusedConv domain=anynpu opset=1 shape=1x32x12x12,32x32x3x3,32,1x32x12x12 "
          "pads=10,10,10,10 dilations=10,10 activation=Relu",
          "FusedConv domain=anynpu opset=1 shape=1x32x12x12,32x32x3x3,32,1x32x12x12 "
          "pads=6,6,6,6 dilations=6,6 activation=Clip activation_min=-1 activation_max=1",
          "Conv shape=1x32x16x16,48x32x3x3,48 pads=12,12,12,12 dilations=12,12 dtype=bfloat16",
      },
      10);
}

TEST(DeformConv, FloatKernelsAgreeWithTheReference) {
  check_cases(
      {
          "DeformConv opset=19 shape=1x4x9x9,6x4x3x3,1x18x9x9,6,1x9x9x9 pads=1,1,1,1",
          "DeformConv opset=19 shape=2x8x10x11,4x4x3x3,2x36x5x6 pads=1,1,1,1 strides=2,2 group=2 "
          "offset_group=2",
          "DeformConv opset=19 shape=1x6x12x9,5x6x1x3,1x6x12x5,5 dilations=1,2",
      },
      3);
}

TEST(Conv, StepsBehindTheActivation) {
  check_cases(
      {
          "FusedConv domain=anynpu opset=1 shape=1x16x9x11,40x16x3x3,40 pads=1,1,1,1 "
          "steps=HardSwish "
          "operands=0,0",
          "FusedConv domain=anynpu opset=1 shape=1x16x7x7,40x16x1x1,40,1x40x7x7 activation=Relu "
          "steps=Tanh,Add operands=0,0,0,1",
          // Winograd, with an odd number of rows and columns.
          "FusedConv domain=anynpu opset=1 shape=1x64x27x33,80x64x3x3,80 pads=1,1,1,1 "
          "steps=Sigmoid,Mul operands=0,0,0,1",
          "FusedConv domain=anynpu opset=1 shape=2x64x27x33,64x64x3x3,64,2x64x27x33 pads=1,1,1,1 "
          "steps=Mish operands=0,0",
          "FusedConv domain=anynpu opset=1 shape=1x20x9x40,20x1x3x3,20 group=20 pads=1,1,1,1 "
          "steps=Swish operands=0,0",
          "FusedConv domain=anynpu opset=1 shape=1x8x5x6x7,12x8x3x3x3,12 pads=1,1,1,1,1,1 "
          "steps=Gelu operands=0,0",
          "FusedConv domain=anynpu opset=1 shape=1x8x40,12x8x3,12 pads=1,1 steps=Softplus "
          "operands=0,0",
          "FusedConv domain=anynpu opset=1 shape=1x16x9x11,40x16x3x3,40 pads=1,1,1,1 "
          "steps=HardSwish "
          "operands=0,0 dtype=float16",
          "FusedConv domain=anynpu opset=1 shape=1x20x9x40,20x1x3x3,20 group=20 pads=1,1,1,1 "
          "steps=Swish operands=0,0 dtype=bfloat16",
      },
      9);
}

TEST(Conv, VectorKernelsTakeOddSizesGroupsStridesAndPads) {
  check_cases(
      {
          "Conv shape=1x16x1x1,16x16x1x1",                   // one pixel, one block
          "Conv shape=1x64x7x7,96x64x3x3,96 pads=1,1,1,1",   // two rows in a tile
          "Conv shape=2x32x5x3,48x32x3x3,48 pads=1,1,1,1",   // batch, odd rows
          "Conv shape=1x17x6x29,33x17x3x3,33 pads=1,1,1,1",  // cut blocks
          "Conv shape=1x24x13x15,40x24x1x1,40",
          "Conv shape=1x32x13x15,40x32x1x1,40 strides=2,2",
          "Conv shape=1x16x14x14,16x16x3x3,16 strides=2,1 pads=0,1,2,0",
          "Conv shape=1x16x15x16,16x16x2x5,16 strides=3,3 pads=0,2,1,3",
          "Conv shape=1x16x20x20,16x16x3x3,16 dilations=2,3 pads=2,3,2,3",
          "Conv shape=1x3x30x30,32x3x3x3,32 strides=2,2 pads=1,1,1,1",
          "Conv shape=2x1x9x9,5x1x3x3,5 pads=1,1,1,1",
          "Conv shape=1x8x9x11,16x8x3x3 dilations=1,2 pads=0,1,0,1",
          "Conv shape=1x64x6x6,64x32x3x3,64 group=2 pads=1,1,1,1",
          "Conv shape=1x32x6x6,32x4x3x3,32 group=8 pads=1,1,1,1",  // merged groups
          "Conv shape=1x48x5x5,24x12x1x1,24 group=4",
          "Conv shape=1x240x5x7,60x80x1x1,60 group=3",  // panels that see two of three groups
          "Conv shape=1x60x5x7,240x20x1x1,240 group=3",
          "Conv shape=1x36x6x9,60x12x3x2,60 group=3 pads=1,1,1,0",
          "Conv shape=1x36x9x9,60x12x3x3,60 group=3 dilations=2,2",
          "Conv shape=1x36x4x5x6,60x12x2x1x3,60 group=3",
          "Conv shape=1x12x5x5,12x1x3x3,12 group=12 pads=1,1,1,1",  // depthwise
          "Conv shape=1x40x9x8,40x1x3x3,40 group=40 pads=1,1,1,1 strides=2,2",
          "Conv shape=1x32x9x8,64x1x5x3,64 group=32 pads=2,1,2,1",  // multiplier 2
          "Conv shape=2x20x8x25,20x1x3x3,20 group=20 pads=0,2,1,0 dilations=2,3",
          "Conv shape=1x16x31,16x1x5,16 group=16 pads=2,2 strides=2",
          "FusedConv domain=anynpu opset=1 shape=1x17x9x20,17x1x3x3,17,1x17x9x20 group=17 "
          "pads=1,1,1,1 activation=Relu",
          "Conv shape=1x3x33x31,24x3x7x7,24 pads=3,3,3,3 strides=2,2 dtype=bfloat16",
          "Conv shape=2x32x5x3,48x32x3x3,48 pads=1,1,1,1 dtype=bfloat16",
          "Conv shape=1x17x6x29,33x17x3x3,33 pads=1,1,1,1 dtype=bfloat16",
          "Conv shape=1x32x13x15,40x32x1x1,40 strides=2,2 dtype=bfloat16",
          "Conv shape=1x16x20x20,16x16x3x3,16 dilations=2,3 pads=2,3,2,3 dtype=bfloat16",
          "Conv shape=1x64x6x6,64x32x3x3,64 group=2 pads=1,1,1,1 dtype=bfloat16",
          "Conv shape=1x16x31,16x1x5,16 group=16 pads=2,2 strides=2 dtype=bfloat16",
          "Conv shape=2x20x38x85,20x1x3x3,20 group=20 pads=0,2,1,0 dilations=2,3 dtype=float16",
          "Conv shape=1x40x9x8,40x1x3x3,40 group=40 pads=1,1,1,1 strides=2,2 dtype=bfloat16",
          "Conv shape=1x16x3x3,16x1x7x7 group=16 pads=5,5,5,5 dtype=bfloat16",
          "Conv shape=2x33x6x29,33x1x3x3,33 group=33 pads=1,1,1,1 dtype=bfloat16",
          "Conv shape=2x20x15x18,20x1x5x5,20 group=20 pads=2,2,2,2 dtype=bfloat16",
          "FusedConv shape=1x24x11x12,24x1x5x5,24,1x24x6x6 group=24 strides=2,2 pads=2,2,2,2 "
          "activation=Relu domain=anynpu opset=1 dtype=bfloat16",
          "FusedConv shape=2x20x13x14,20x1x3x3,20,2x20x7x7 group=20 strides=2,2 pads=1,1,1,1 "
          "activation=Clip activation_min=-1 activation_max=1 domain=anynpu opset=1 dtype=bfloat16",
          "Conv shape=1x16x9x30,16x1x3x5,16 group=16 dilations=2,3 pads=1,4,2,5 dtype=bfloat16",
          "FusedConv shape=1x24x7x13,24x1x3x3,24,1x24x7x13 group=24 pads=1,1,1,1 activation=Clip "
          "activation_min=0 activation_max=6 domain=anynpu opset=1 dtype=bfloat16",
          "Conv shape=0x16x9x8,16x1x3x3 group=16 dtype=float16",
          "FusedConv domain=anynpu opset=1 shape=1x17x90x20,17x1x3x3,17,1x17x90x20 group=17 "
          "pads=1,1,1,1 activation=Relu dtype=bfloat16",
          "Conv shape=0x16x8x8,16x16x3x3 dtype=bfloat16",
          "FusedConv domain=anynpu opset=1 shape=1x16x9x9,24x16x3x3,24,1x24x9x9 pads=1,1,1,1 "
          "activation=Clip activation_min=-1 activation_max=2.5 dtype=bfloat16",
          "Conv shape=3x20x31,24x20x5,24 pads=2,2 strides=2",  // one dimension
          "Conv shape=1x16x8x8,16x16x3x3,16 auto_pad=SAME_LOWER strides=2,2",
          "FusedConv domain=anynpu opset=1 shape=1x32x9x9,64x32x3x3,64,1x64x9x9 pads=1,1,1,1 "
          "activation=Relu",
          "FusedConv domain=anynpu opset=1 shape=1x3x9x9,19x3x3x3,_,1x19x9x9 pads=1,1,1,1",
          "FusedConv domain=anynpu opset=1 shape=1x16x9x9,16x16x1x1,16 activation=Clip "
          "activation_min=-1 activation_max=2.5",
      },
      100);
}

}  // namespace
}  // namespace anynpu::ops::conv
