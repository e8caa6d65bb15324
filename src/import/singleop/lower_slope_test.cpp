// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerSlope, OfAFunctionIsOneNode) {
  EXPECT_THAT(OpForTest("TanhGrad").in({3}).in({3}).out().nodes(), ElementsAre("TanhGrad"));
}

TEST(LowerSlope, OfABiasSumsAllButItsChannels) {
  EXPECT_EQ(OpForTest("BiasAddGrad").in({2, 3, 4, 5}).out().shape(), (Shape{5}));
  EXPECT_EQ(OpForTest("BiasAddGrad")
                .in({2, 3, 4, 5})
                .attr("data_format", std::string("NCHW"))
                .out()
                .shape(),
            (Shape{3}));
}

TEST(LowerSlope, OfTheLargerOneIsAddedUpWhereItWasRepeated) {
  OpForTest op("MaximumGrad");
  op.in({4, 3}).in({4, 3}).in({3}).out().out();
  const auto graph = build_graph(op.op);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[1])].shape, (Shape{3}));
}

TEST(LowerSlope, OfALayerTakesAScaleOfNoMoreAxes) {
  OpForTest op("LayerNormGrad");
  op.in({3}).in({3}).in({1}).in({1}).in({2, 3}).out();
  EXPECT_THAT(op.message(), HasSubstr("gamma has 2 axes, x 1"));
}

}  // namespace
}  // namespace anynpu::singleop
