// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfQuantize, RoundsToTheStepsOfARange) {
  EXPECT_EQ(
      one_node("FakeQuantWithMinMaxArgs", {3}, {float_of("min", -1), float_of("max", 1)}).ops(),
      "Min Max Sub Div Add Floor Mul Add");
}

TEST(TfQuantize, ARangeMayComeAtRunTime) {
  TestGraph graph;
  graph.input("low", {}).input("high", {});
  const std::string ops =
      one_node("FakeQuantWithMinMaxVars", {3}, {}, {"low", "high"}, graph).ops();
  EXPECT_NE(ops.find("Where"), std::string::npos) << ops;
}

TEST(TfQuantize, ARangeOfZeroAloneGivesZeros) {
  TestGraph graph;
  graph.floats("zero", {}, {0});
  const std::string ops =
      one_node("FakeQuantWithMinMaxVars", {3}, {}, {"zero", "zero"}, graph).ops();
  EXPECT_NE(ops.find("Where"), std::string::npos) << ops;
}

TEST(TfQuantize, GoesToIntegersAndBack) {
  TestGraph graph;
  graph.floats("low", {}, {-1}).floats("high", {}, {1});
  EXPECT_EQ(one_node("QuantizeAndDequantizeV2", {3}, {flag_of("range_given", true)},
                     {"low", "high"}, graph)
                .ops(),
            "Min Max Mul Round Mul");
}

TEST(TfQuantize, BitsThatNoIntegerHasAreRefused) {
  const std::string said =
      one_node("FakeQuantWithMinMaxArgs", {3}, {int_of("num_bits", 40)}).shape();
  EXPECT_NE(said.find("num_bits is 40"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
