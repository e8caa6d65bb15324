// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(BuilderOutputs, ADescribedTypeIsCastTo16BitsWhenItWasWidened) {
  const auto graph = build_graph(OpForTest("SquaredDifference")
                                     .in({2}, DType::f16)
                                     .in({2}, DType::f16)
                                     .out({2}, DType::f16)
                                     .op);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].dtype, DType::f16);
}

TEST(BuilderOutputs, AnotherTypeOrShapeIsRefused) {
  EXPECT_FALSE(OpForTest("Relu").in({2}).out({2}, DType::i32).message().empty());
  EXPECT_FALSE(OpForTest("Relu").in({2}).out({3}).message().empty());
}

}  // namespace
}  // namespace anynpu::singleop
