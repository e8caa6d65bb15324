// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

TEST(LowerFactor, AMatrixKeepsItsShapeAndHasAReflectionForEachColumn) {
  const auto graph = build_graph(OpForTest("Geqrf").in({5, 3}).out().out().op);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].shape, (Shape{5, 3}));
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[1])].shape, Shape{3});
}

TEST(LowerFactor, LargeMatricesAreRefused) {
  EXPECT_THAT(OpForTest("Geqrf").in({500, 500}).out().out().message(), HasSubstr("at most 128"));
  EXPECT_THAT(OpForTest("Orgqr").in({3, 5}).in({5}).out().message(),
              HasSubstr("no more columns than rows"));
}

}  // namespace
}  // namespace anynpu::singleop
