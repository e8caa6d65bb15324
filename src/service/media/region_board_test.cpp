// SPDX-License-Identifier: Apache-2.0
#include "service/media/region_board.h"

#include <gtest/gtest.h>

#include <vector>

namespace anynpu::media {
namespace {

TEST(RegionBoard, DrawsByLayerAndReplaces) {
  std::vector<int> drawn;
  const auto draws = [&](int number, uint32_t layer) {
    return RegionDrawing{layer, [&drawn, number](const pixel::Picture&, const pixel::ColorMatrix&) {
                           drawn.push_back(number);
                         }};
  };
  RegionBoard board;
  EXPECT_TRUE(board.empty());
  board.set(7, draws(1, 5));
  board.set(3, draws(2, 6));
  board.set(9, draws(3, 0));
  board.draw({});
  EXPECT_EQ(drawn, (std::vector<int>{3, 1, 2}));
  board.set(3, draws(4, 1));
  board.remove(9);
  drawn.clear();
  board.draw({});
  EXPECT_EQ(drawn, (std::vector<int>{4, 1}));
  board.remove(3);
  board.remove(7);
  EXPECT_TRUE(board.empty());
}

}  // namespace
}  // namespace anynpu::media
