// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeShape, LayersThatMoveElementsKeepTheirNumber) {
  EXPECT_EQ(import_layer("type: 'Flatten'").shape, (Shape{1, 256}));
  EXPECT_EQ(import_layer("type: 'Reshape' reshape_param { shape { dim: 0 dim: -1 } }").shape,
            (Shape{1, 256}));
  EXPECT_EQ(
      import_layer("type: 'Permute' permute_param { order: 0 order: 2 order: 3 order: 1 }").shape,
      (Shape{1, 8, 8, 4}));
}

TEST(CaffeShape, ASliceBecomesSplit) {
  EXPECT_THAT(import_layer("type: 'Slice' top: 'z'").ops, ElementsAre("Split"));
}

TEST(CaffeShape, DropoutAndSplitLeaveTheirBottom) {
  EXPECT_THAT(import_layer("type: 'Dropout'").ops, testing::Not(Contains("Dropout")));
}

TEST(CaffeShape, ATileNeedsAFactorAboveNought) {
  EXPECT_EQ(import_layer("type: 'Tile' tile_param { axis: 1 tiles: 3 }").shape,
            (Shape{1, 12, 8, 8}));
}

}  // namespace
}  // namespace anynpu::caffe
