// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/test_node.h"

namespace anynpu::ops::softmax {
namespace {

TEST(Softmax, NormalisesTheLastAxisFromOpset13) {
  const auto y = TestNode("Softmax", 13).floats({2, 2}, {0, 0, 1000, 1000}).evaluate();
  for (float value : y) EXPECT_FLOAT_EQ(value, 0.5f);
}

TEST(Softmax, FlattensAtTheAxisUpToOpset12) {
  for (float value : TestNode("Softmax", 12).floats({1, 2, 2}, {3, 3, 3, 3}).evaluate()) {
    EXPECT_FLOAT_EQ(value, 0.25f);
  }
}

TEST(LogSoftmax, IsTheLogarithm) {
  const auto y = TestNode("LogSoftmax", 13).floats({1, 4}, {1, 1, 1, 1}).evaluate();
  EXPECT_FLOAT_EQ(y[0], std::log(0.25f));
}

TEST(Softmax, RefusesAnAxisOutsideTheTensor) {
  EXPECT_NE(
      TestNode("Softmax", 13).shape({2, 3}).attr("axis", int64_t{2}).shape_text().find("axis is 2"),
      std::string::npos);
}

TEST(Softmax, EveryKernelAgreesWithTheReference) {
  check_cases({"Softmax shape=8x1000", "Softmax shape=2x5x3x4 axis=1",
               "Softmax shape=2x5x3 opset=11", "Softmax shape=4x7 dtype=float16",
               "Softmax shape=0x7", "Softmax shape=3x0", "Softmax shape=3x17x1",
               "Softmax shape=2x3x129", "Softmax shape=1x2500", "Softmax shape=scalar"},
              30);
}

TEST(LogSoftmax, EveryKernelAgreesWithTheReference) {
  check_cases(
      {"LogSoftmax shape=8x1000", "LogSoftmax shape=2x5x3x4 axis=1",
       "LogSoftmax shape=2x5x3 opset=11", "LogSoftmax shape=4x7 dtype=float16",
       "LogSoftmax shape=4x70 dtype=bfloat16", "LogSoftmax shape=0x7", "LogSoftmax shape=3x0",
       "LogSoftmax shape=3x17x1", "LogSoftmax shape=1x2500", "LogSoftmax shape=scalar"},
      25);
}

TEST(Softmax, RowsOfAllLengthsAgreeWithTheReference) {
  for (int length = 1; length < 70; ++length) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      check_cases({(std::string(op) + " shape=67x" + std::to_string(length)).c_str()}, 2);
    }
  }
}

TEST(Softmax, ColumnsOfAllWidthsAndLengthsAgreeWithTheReference) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const int length : {1, 2, 21, 127, 128, 129, 700}) {
      for (const int width : {2, 15, 16, 17, 63, 64, 65, 130}) {
        const std::string text = std::string(op) + " shape=2x" + std::to_string(length) + "x" +
                                 std::to_string(width) + " axis=1";
        check_cases({text.c_str()}, 2);
      }
    }
  }
}

TEST(Softmax, ValuesThatAreNotFiniteStayInTheirRow) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const char* text :
       {"Softmax shape=3x20", "Softmax shape=6x9", "Softmax shape=20x3 axis=0",
        "LogSoftmax shape=3x20", "LogSoftmax shape=20x3 axis=0", "Softmax shape=200x70 axis=0"}) {
    for (const float value : {inf, -inf, std::nanf(""), -1e30f, 1e30f}) {
      auto op_case = OpCase::parse(text);
      ASSERT_TRUE(op_case.ok());
      std::memcpy(op_case->data()[0].data() + 25 * sizeof(float), &value, sizeof value);
      const Status status = check_all_kernels(*op_case);
      EXPECT_TRUE(status.ok()) << text << " with " << value << ": " << status.to_string();
    }
  }
}

}  // namespace
}  // namespace anynpu::ops::softmax
