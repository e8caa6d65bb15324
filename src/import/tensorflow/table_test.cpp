// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/table.h"

#include <gtest/gtest.h>

namespace anynpu::tensorflow {
namespace {

TEST(TfTable, EveryRowHasAFunction) {
  for (const TfOp& op : tf_ops()) {
    EXPECT_TRUE(op.lower) << op.name;
    EXPECT_EQ(find_tf_op(op.name), &op) << op.name << " is there twice";
  }
}

TEST(TfTable, TellsTheNearestName) {
  EXPECT_EQ(nearest_tf_op("Conv2DD"), "Conv2D");
  EXPECT_EQ(nearest_tf_op("SomethingElseEntirely"), "");
}

}  // namespace
}  // namespace anynpu::tensorflow
