// SPDX-License-Identifier: Apache-2.0
// Operators that move elements give the same ones from blocks of channels and from plain tensors.
#include "ops/test_node.h"

namespace anynpu::ops::shape {
namespace {

TEST(BlockedShapes, ConcatOfChannelsThatFillNoBlocks) {
  check_cases(
      {
          "Concat shape=1x16x5x7,1x16x5x7 axis=1",
          "Concat shape=2x24x5x7,2x3x5x7,2x40x5x7 axis=1",
          "Concat shape=1x5x30,1x6x30,1x7x30,1x1x30 axis=-2 opset=13",
          "Concat shape=2x24x20x30,2x9x20x30 axis=1 dtype=bfloat16",
          "Concat shape=1x24x3x3x2,1x24x3x3x2 axis=1 dtype=float16",
          "Concat shape=1x24x3x3,1x24x5x3 axis=2",
      },
      12);
}

TEST(BlockedShapes, PartsOfChannels) {
  check_cases(
      {
          "Split shape=1x48x6x7 opset=11 axis=1 split=16,32 outputs=2",
          "Split shape=2x29x6x70 opset=11 axis=1 split=5,17,7 outputs=3",
          "Split shape=2x58x9 opset=11 axis=1 split=29,29 outputs=2 dtype=bfloat16",
          "Split shape=1x16x8x7 opset=11 axis=2 split=5,3 outputs=2",
          "Slice shape=2x40x6x7 opset=9 axes=1 starts=3 ends=37",
          "Slice shape=2x40x6x7 opset=9 axes=1,2 starts=3,1 ends=37,4",
          "Slice shape=2x40x6x7 opset=9 axes=2,3 starts=1,2 ends=5,7",
          "Slice shape=3x17x8 opset=9 axes=0,2 starts=1,3 ends=3,8 dtype=float16",
      },
      16);
}

TEST(BlockedShapes, ChannelsGoToTheLastPlaceAndBack) {
  check_cases(
      {
          "Transpose shape=2x20x5x9 perm=0,2,3,1",
          "Transpose shape=1x32x30x9 perm=0,2,3,1 dtype=bfloat16",
          "Transpose shape=2x5x9x20 perm=0,3,1,2",
          "Transpose shape=1x7x3x4x33 perm=0,4,1,2,3 dtype=float16",
          "Transpose shape=2x100x24 perm=0,2,1",
          "Transpose shape=2x20x5x9 perm=0,3,2,1",
      },
      12);
}

TEST(BlockedShapes, AxesBehindTheChannelsAreJoinedInPlace) {
  check_cases(
      {
          "Flatten shape=2x20x5x9 axis=1",
          "Unsqueeze shape=2x20x45 opset=11 axes=3",
          "Squeeze shape=2x20x45x1 opset=11 axes=3",
          "Identity shape=2x20x45",
      },
      8);
}

}  // namespace
}  // namespace anynpu::ops::shape
