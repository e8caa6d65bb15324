// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeResize, InterpGoesToItsHeightAndWidth) {
  const Imported made = import_layer("type: 'Interp' interp_param { height: 16 width: 24 }");
  EXPECT_THAT(made.ops, Contains("Resize"));
  EXPECT_EQ(made.shape, (Shape{1, 4, 16, 24}));
}

TEST(CaffeResize, UpsampleTakesAFactor) {
  EXPECT_EQ(import_layer("type: 'Upsample' upsample_param { scale: 2 }").shape,
            (Shape{1, 4, 16, 16}));
}

}  // namespace
}  // namespace anynpu::caffe
