// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/types.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

// Conv -> Relu -> Exp.
class AssignPrecisionTest : public testing::Test {
 protected:
  AssignPrecisionTest() {
    const ValueId x = g.input("x", {1, 2, 5, 5});
    const ValueId c = g.node("Conv", {x, g.weight("w", {3, 2, 3, 3}), g.weight("b", {3})}, "c");
    g.graph.outputs = {g.node("Exp", {g.node("Relu", {c}, "r")}, "y")};
  }
  std::vector<std::string> after(const Precision& precision) {
    auto sample = learn_types(g.graph, {});
    EXPECT_TRUE(sample.ok()) << sample.status().to_string();
    const Status status = assign_precision(precision, *sample, g.graph);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(type_of(g.graph.outputs[0]), DType::f32) << "outputs keep their type";
    return GraphForTest::ops(g.graph);
  }
  DType type_of(ValueId id) const { return g.graph.values[static_cast<size_t>(id)].dtype; }
  DType made_by(const std::string& op) const {
    for (const graph::Node& node : g.graph.nodes) {
      if (node.op == op) return type_of(node.outputs[0]);
    }
    return DType::undefined;
  }
  static Precision mode(PrecisionMode mode) {
    Precision precision;
    precision.mode = mode;
    return precision;
  }
  GraphForTest g;
};

TEST_F(AssignPrecisionTest, InMixedPrecisionGrayFollowsWhiteAndBlackStays) {
  EXPECT_THAT(after(mode(PrecisionMode::mixed_float16)),
              ElementsAre("Cast", "Conv", "Relu", "Cast", "Exp"));
  EXPECT_EQ(made_by("Conv"), DType::f16);
  EXPECT_EQ(made_by("Relu"), DType::f16);
  EXPECT_EQ(made_by("Exp"), DType::f32);
}

TEST_F(AssignPrecisionTest, OnlyConvolutionsAndProductsAreShortWhereThatIsAllowed) {
  after(mode(PrecisionMode::allow_fp16));
  EXPECT_EQ(made_by("Conv"), DType::f16);
  EXPECT_EQ(made_by("Relu"), DType::f32);
}

TEST_F(AssignPrecisionTest, EverythingIsShortInFp16) {
  after(mode(PrecisionMode::fp16));
  EXPECT_EQ(made_by("Relu"), DType::f16);
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Cast", "Conv", "Relu", "Exp", "Cast"));
}

TEST_F(AssignPrecisionTest, CubeModeRoundsInputsAndKeepsTheType) {
  EXPECT_THAT(after(mode(PrecisionMode::cube_fp16)),
              ElementsAre("Cast", "Cast", "Conv", "Relu", "Exp"));
  EXPECT_EQ(made_by("Conv"), DType::f32);
}

TEST_F(AssignPrecisionTest, KeptOperatorsAndNodesStay) {
  Precision precision = mode(PrecisionMode::mixed_float16);
  precision.kept_ops.insert("Conv");
  EXPECT_THAT(after(precision), ElementsAre("Conv", "Relu", "Exp"));
}

TEST_F(AssignPrecisionTest, ATypeForOneNodeWins) {
  Precision precision;
  precision.type_of_node["Relu_r"] = DType::bf16;
  after(precision);
  EXPECT_EQ(made_by("Relu"), DType::bf16);
  EXPECT_EQ(made_by("Conv"), DType::f32);
}

TEST_F(AssignPrecisionTest, NamesThatAreNoNodeAreRefused) {
  Precision precision;
  precision.kept_nodes.insert("Conv_x");
  EXPECT_THAT(check_names(precision, g.graph).message(), HasSubstr("'Conv_x'"));
  precision.kept_nodes = {"Conv_c"};
  EXPECT_TRUE(check_names(precision, g.graph).ok());
}

}  // namespace
}  // namespace anynpu::compile
