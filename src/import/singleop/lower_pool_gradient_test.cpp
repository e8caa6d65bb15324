// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

OpForTest maxima(Ints window, DType type = DType::f32) {
  OpForTest op("MaxPoolGrad");
  for (const Shape& shape : {Shape{1, 2, 5, 5}, Shape{1, 2, 3, 3}, Shape{1, 2, 3, 3}})
    op.in(shape, type, Format::nchw);
  op.attr("ksize", window).attr("strides", Ints{1, 1, 2, 2}).attr("padding", std::string("SAME"));
  return op.attr("data_format", std::string("NCHW")).out({1, 2, 5, 5}, type, Format::nchw);
}

TEST(LowerPoolGradient, OfMaximaHasTheShapeOfThePicture) {
  EXPECT_EQ(maxima({1, 1, 3, 3}).shape(), (Shape{1, 2, 5, 5}));
}

TEST(LowerPoolGradient, SumsOfShortFloatsAreRoundedOnce) {
  const auto nodes = maxima({1, 1, 3, 3}, DType::f16).nodes();
  const auto at = [&](const char* op) { return std::find(nodes.begin(), nodes.end(), op); };
  EXPECT_LT(at("Cast"), at("ScatterElements")) << "widened before they are added up";
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), "Cast"), 2);
}

TEST(LowerPoolGradient, WindowsAreChecked) {
  EXPECT_THAT(maxima({1, 1, 0, 3}).message(), HasSubstr("ksize is 0, 3"));
  EXPECT_THAT(maxima({3}).message(), HasSubstr("ksize has 1 numbers"));
}

TEST(LowerPoolGradient, OfAveragesNeedsTheShapeOfThePicture) {
  OpForTest op("AvgPoolGrad");
  op.known({1, 2, 6}).in({1, 2, 3, 3}, DType::f32, Format::nchw).out();
  EXPECT_THAT(op.message(), HasSubstr("orig_input_shape has 3 numbers"));
}

}  // namespace
}  // namespace anynpu::singleop
