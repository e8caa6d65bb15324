// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerIndex, AGatherTakesItsAxisFromTheThirdInput) {
  EXPECT_EQ(OpForTest("GatherV2").in({4, 5}).in({2}, DType::i64).known({1}).out().shape(),
            (Shape{4, 2}));
  EXPECT_THAT(OpForTest("GatherV2")
                  .in({4, 5})
                  .in({2}, DType::i64)
                  .known({1})
                  .out()
                  .attr("batch_dims", int64_t{1})
                  .message(),
              HasSubstr("batch_dims is 1, expected 0"));
}

TEST(LowerIndex, WhereListsThePositionsRowByRow) {
  EXPECT_THAT(OpForTest("Where").in({2, 3}).out().nodes(), ElementsAre("NonZero", "Transpose"));
}

TEST(LowerIndex, AddingScatterAdds) {
  const auto graph =
      build_graph(OpForTest("ScatterNdAdd").in({4}).in({2, 1}, DType::i64).in({2}).out().op);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->nodes.back().string_attr("reduction", ""), "add");
}

}  // namespace
}  // namespace anynpu::singleop
