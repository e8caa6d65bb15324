// SPDX-License-Identifier: Apache-2.0
#include "exec/describe_step.h"

#include <gtest/gtest.h>

namespace anynpu::exec {
namespace {

TEST(DescribeStep, AMoveHasTheSameTensorOnBothSides) {
  EXPECT_EQ(describe_move("copy", DType::f16, {2, 3}, Format::nchw),
            "copy\tcopy\t2,3\tfloat16\tNCHW\t2,3\tfloat16\tNCHW");
}

TEST(DescribeStep, AScalarHasNoDimensions) {
  EXPECT_EQ(describe_move("copy", DType::i64, {}, Format::nd),
            "copy\tcopy\t\tint64\tND\t\tint64\tND");
}

}  // namespace
}  // namespace anynpu::exec
