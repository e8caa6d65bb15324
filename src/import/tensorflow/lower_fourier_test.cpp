// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

constexpr int64_t kComplex64 = 8;

TEST(TfFourier, ComplexNumbersAreReadAsTheirParts) {
  TestGraph graph;
  graph.input("x", {2, 4, 8}, kComplex64).node("y", "IFFT2D", {"x"});
  EXPECT_EQ(graph.ops(), "BitCast DFT DFT BitCast");
  EXPECT_EQ(graph.shape(), "2x4x8");
}

TEST(TfFourier, ARealTransformHasHalfTheSpectrum) {
  TestGraph graph;
  graph.input("x", {3, 10}).ints("length", {1}, {8}).node("y", "RFFT", {"x", "length"});
  EXPECT_EQ(graph.ops(), "Slice Unsqueeze DFT BitCast");
  EXPECT_EQ(graph.shape(), "3x5");
}

TEST(TfFourier, BackToRealNumbersOfTheLengthAskedFor) {
  TestGraph graph;
  graph.input("x", {3, 4}, kComplex64).ints("length", {1}, {7}).node("y", "IRFFT", {"x", "length"});
  EXPECT_EQ(graph.shape(), "3x7");
}

TEST(TfFourier, LengthsThatAreNoneAreRefused) {
  TestGraph graph;
  graph.input("x", {3, 10}).ints("length", {1}, {0}).node("y", "RFFT", {"x", "length"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("fft_length is [0]"), std::string::npos) << said;
  TestGraph huge;
  huge.input("x", {3, 10}).ints("length", {1}, {1 << 30}).node("y", "RFFT", {"x", "length"});
  EXPECT_NE(huge.shape().find("from 1 to 4194304"), std::string::npos) << huge.shape();
}

}  // namespace
}  // namespace anynpu::tensorflow
