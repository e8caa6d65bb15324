// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfColour, PicturesKeepTheirShape) {
  EXPECT_EQ(one_node("RGBToHSV", {2, 4, 4, 3}).shape(), "2x4x4x3");
  EXPECT_EQ(one_node("HSVToRGB", {5, 3}).shape(), "5x3");
  TestGraph constants;
  constants.floats("f", {}, {0.25f});
  for (const char* op : {"AdjustHue", "AdjustSaturation", "AdjustContrastv2"})
    EXPECT_EQ(one_node(op, {2, 4, 4, 3}, {}, {"f"}, constants).shape(), "2x4x4x3") << op;
}

}  // namespace
}  // namespace anynpu::tensorflow
