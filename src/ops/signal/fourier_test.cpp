// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/test_node.h"

namespace anynpu::ops::signal {
namespace {

TEST(Dft, EveryKernelAgreesWithTheDefinitionForLengthsOfAllKinds) {
  // Powers of two, small primes and their products, primes that need a convolution.
  for (const int length : {1,  2,  3,  4,  5,  6,   7,   8,   12,  16,  30,  31,  32, 37,
                           49, 62, 64, 74, 97, 100, 121, 127, 128, 210, 256, 251, 400}) {
    for (const char* rest : {"x1 opset=17", "x2 opset=17 inverse=1", "x1 opset=17 onesided=1",
                             "x2 opset=20 dtype=float64", "x2 opset=20 dtype=float64 inverse=1"}) {
      const std::string text = "DFT shape=3x" + std::to_string(length) + rest;
      check_cases({text.c_str()}, 2);
    }
  }
}

TEST(Dft, TakesAnyAxisAndCutsOrContinuesWithZeros) {
  check_cases({"DFT shape=2x12x5x1 opset=17 axis=1", "DFT shape=2x12x5x2 opset=17 axis=2",
               "DFT shape=9x4x2 opset=17 axis=0", "DFT shape=2x9x2 opset=17 dtype=float16",
               "DFT shape=2x9x1 opset=17 ints=1:5", "DFT shape=2x9x2 opset=17 ints=1:20 inverse=1",
               "DFT shape=2x9x1 opset=17 ints=1:13 onesided=1",
               "DFT shape=2x9x2 opset=20 onesided=1 inverse=1",
               "DFT shape=2x9x2 opset=20 onesided=1 inverse=1 ints=1:15",
               "DFT shape=2x9x2 opset=20 onesided=1 inverse=1 ints=1:40",
               "DFT shape=2x9x2 opset=20 onesided=1 inverse=1 ints=1:7", "DFT shape=0x8x2 opset=17",
               "DFT shape=2x8x0x1 opset=17 axis=1"},
              26);
}

TEST(Dft, PointsThatAreNotFiniteSpreadAsInTheDefinition) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float value : {inf, -inf, std::nanf("")}) {
    auto op_case = OpCase::parse("DFT shape=3x12x2 opset=17");
    ASSERT_TRUE(op_case.ok());
    for (const size_t at : {24u, 34u}) {  // of the second row
      std::memcpy(op_case->data()[0].data() + at * sizeof(float), &value, sizeof value);
    }
    const Status status = check_all_kernels(*op_case);
    EXPECT_TRUE(status.ok()) << value << ": " << status.to_string();
  }
}

TEST(Stft, EveryKernelAgreesWithTheDefinition) {
  const char* kStep = ",scalar,";  // drawn: its value is a constant between 1 and 16
  for (const char* rest : {"25 seed=3", "16 seed=3 onesided=0", "37 seed=3"}) {
    for (const char* signal : {"STFT shape=2x80x1", "STFT shape=3x61x2", "STFT shape=1x40"}) {
      for (const char* types : {"float32,int64,float32", "float16,int64,float16"}) {
        const std::string text =
            std::string(signal) + kStep + rest + " opset=17 const=1 dtype=" + types;
        check_cases({text.c_str()}, 2);
      }
    }
  }
}

TEST(DFT, OfAConstantHasOneBin) {
  const auto y = TestNode("DFT", 17).floats({1, 2, 1}, {1, 1}).evaluate();
  ASSERT_EQ(y.size(), 4u);
  EXPECT_EQ(y[0], 2);
  for (size_t i = 1; i < 4; ++i) EXPECT_NEAR(y[i], 0, 1e-12) << i;
}

}  // namespace
}  // namespace anynpu::ops::signal
