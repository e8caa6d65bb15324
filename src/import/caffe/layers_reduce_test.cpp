// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeReduce, AReductionTakesTheAxesBehindOne) {
  const Imported made =
      import_layer("type: 'Reduction' reduction_param { axis: 2 operation: MEAN }");
  EXPECT_THAT(made.ops, Contains("ReduceMean"));
  EXPECT_EQ(made.shape, (Shape{1, 4}));
}

TEST(CaffeReduce, ArgMaxOverAnAxisKeepsIt) {
  EXPECT_EQ(import_layer("type: 'ArgMax' argmax_param { axis: 1 }").shape, (Shape{1, 1, 8, 8}));
}

}  // namespace
}  // namespace anynpu::caffe
