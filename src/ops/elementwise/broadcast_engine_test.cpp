// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::elementwise {
namespace {

using Floats = std::vector<float>;

TEST(BlockUnary, RoundsHalvesToEven) {
  EXPECT_EQ(TestNode("Round").floats({4}, {0.5f, 1.5f, 2.5f, -2.5f}).evaluate(),
            (Floats{0, 2, 2, -2}));
}

TEST(BlockUnary, ActivationsReadTheirAttributes) {
  EXPECT_EQ(TestNode("HardSigmoid")
                .floats({3}, {-9, 0, 9})
                .attr("alpha", 0.5f)
                .attr("beta", 0.25f)
                .evaluate(),
            (Floats{0, 0.25f, 1}));
  EXPECT_EQ(TestNode("ThresholdedRelu").floats({3}, {1, 2, 3}).attr("alpha", 2.0f).evaluate(),
            (Floats{0, 0, 3}));
  EXPECT_EQ(TestNode("Shrink")
                .floats({3}, {-2, 0.1f, 2})
                .attr("bias", 0.5f)
                .attr("lambd", 1.0f)
                .evaluate(),
            (Floats{-1.5f, 0, 1.5f}));
}

TEST(BlockUnary, SoftplusDoesNotOverflow) {
  EXPECT_EQ(TestNode("Softplus").floats({2}, {1000, -1000}).evaluate(), (Floats{1000, 0}));
}

TEST(Gelu, RefusesAnUnknownApproximation) {
  EXPECT_NE(TestNode("Gelu", 20)
                .shape({2})
                .attr("approximate", std::string("x"))
                .shape_text()
                .find("none or tanh"),
            std::string::npos);
}

TEST(BlockNary, FoldsAnyNumberOfBroadcastInputs) {
  EXPECT_EQ(TestNode("Max").floats({2, 1}, {1, 5}).floats({2}, {3, 4}).floats({}, {2}).evaluate(),
            (Floats{3, 4, 5, 5}));
  EXPECT_EQ(TestNode("Mean").floats({2}, {1, 2}).floats({2}, {3, 6}).evaluate(), (Floats{2, 4}));
}

TEST(BlockNary, NaNWinsInMaxAndMin) {
  for (const char* op : {"Max", "Min"}) {
    EXPECT_TRUE(std::isnan(TestNode(op).floats({1}, {NAN}).floats({1}, {1}).evaluate()[0]));
    EXPECT_TRUE(std::isnan(TestNode(op).floats({1}, {1}).floats({1}, {NAN}).evaluate()[0]));
  }
}

TEST(Mod, TakesTheSignOfTheDivisorUnlessFmod) {
  EXPECT_EQ(TestNode("Mod").floats({2}, {-7, 7}).floats({2}, {3, -3}).evaluate(), (Floats{2, -2}));
  EXPECT_EQ(
      TestNode("Mod").floats({2}, {-7, 7}).floats({2}, {3, -3}).attr("fmod", int64_t{1}).evaluate(),
      (Floats{-1, 1}));
}

TEST(Comparisons, GiveBool) {
  auto context = TestNode("Less").shape({2, 1}).shape({3}).infer();
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(context->outputs[0].dtype, DType::boolean);
  EXPECT_EQ(to_string(context->outputs[0].shape), "2x3");
}

TEST(BitShift, WantsADirection) {
  EXPECT_NE(TestNode("BitShift")
                .shape({2}, DType::u8)
                .shape({2}, DType::u8)
                .attr("direction", std::string("UP"))
                .shape_text()
                .find("LEFT or RIGHT"),
            std::string::npos);
}

TEST(Cast, ConvertsAndRefusesTypesAscendClLacks) {
  EXPECT_EQ(TestNode("Cast").ints({1, -2}).attr("to", int64_t{1}).evaluate(), (Floats{1, -2}));
  EXPECT_NE(TestNode("Cast").shape({1}).attr("to", int64_t{18}).shape_text().find("data type 18"),
            std::string::npos);
}

TEST(Block, EveryKernelAgreesWithTheReference) {
  check_cases({"Sin shape=3x300", "Pow shape=2x3,3", "Max shape=4,1", "Sum shape=0x3,1x3",
               "HardSwish shape=257 dtype=float16 opset=14", "Mod shape=5,5 dtype=int32",
               "Cast shape=1x17x3x5 to=16", "Cast shape=3x70000 to=10",
               "CastLike shape=1x17x3x5,1 opset=15", "Cast shape=1x17x3x5 to=1 dtype=bfloat16",
               "Cast shape=0x4 to=1 dtype=float16", "Erf shape=1x17x3x5 dtype=bfloat16",
               "Gelu shape=33 opset=20 dtype=float16"});
}

}  // namespace
}  // namespace anynpu::ops::elementwise
