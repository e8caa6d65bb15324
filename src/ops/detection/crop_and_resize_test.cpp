// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::detection {
namespace {

using Floats = std::vector<float>;

TestNode crop(Floats box, int64_t height, int64_t width, int64_t picture = 0) {
  TestNode node("CropAndResize", 1, "anynpu");
  node.floats({1, 1, 2, 2}, {1, 2, 3, 4})
      .floats({1, 4}, std::move(box))
      .ints({1}, {picture})
      .attr("height", height)
      .attr("width", width);
  return node;
}

TEST(CropAndResize, CornersOfTheBoxAreCornersOfTheResult) {
  EXPECT_EQ(crop({0, 0, 1, 1}, 2, 2).evaluate(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(crop({0, 0, 1, 1}, 3, 3).evaluate(), (Floats{1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4}));
  EXPECT_EQ(crop({1, 1, 0, 0}, 2, 2).evaluate(), (Floats{4, 3, 2, 1})) << "boxes may be turned";
}

TEST(CropAndResize, OneRowIsTheMiddleOfTheBox) {
  EXPECT_EQ(crop({0, 0, 1, 1}, 1, 1).evaluate(), (Floats{2.5}));
}

TEST(CropAndResize, WhatLiesOutsideHasItsOwnValue) {
  EXPECT_EQ(crop({0, 0, 2, 1}, 2, 2).attr("outside", -7.0f).evaluate(), (Floats{1, 2, -7, -7}));
}

TEST(CropAndResize, ABoxOfNoPictureIsRefused) {
  auto node = crop({0, 0, 1, 1}, 2, 2, 5);
  const auto context = node.infer();
  ASSERT_TRUE(context.ok());
  EXPECT_FALSE(evaluate(*context).ok());
}

}  // namespace
}  // namespace anynpu::ops::detection
