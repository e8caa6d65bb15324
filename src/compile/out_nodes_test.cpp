// SPDX-License-Identifier: Apache-2.0
#include "compile/out_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

class SelectOutputs : public testing::Test {
 protected:
  SelectOutputs() {
    const ValueId x = g.input("x", {2});
    a = g.node("Add", {x, g.weight("w", {2})}, "a");
    b = g.node("Neg", {a}, "b");
    g.graph.outputs = {b};
  }
  std::string message(const std::vector<std::string>& names) {
    return select_outputs(names, g.graph).message();
  }
  GraphForTest g;
  ValueId a, b;
};

TEST_F(SelectOutputs, NodesWithIndexBecomeOutputsInThisOrder) {
  ASSERT_TRUE(select_outputs({"Neg_b:0", "Add_a:0"}, g.graph).ok());
  EXPECT_THAT(g.graph.outputs, ElementsAre(b, a));
}

TEST_F(SelectOutputs, TensorsMayBeNamedToo) {
  ASSERT_TRUE(select_outputs({"a"}, g.graph).ok());
  EXPECT_THAT(g.graph.outputs, ElementsAre(a));
}

TEST_F(SelectOutputs, AnEmptyListLeavesTheOutputs) {
  ASSERT_TRUE(select_outputs({}, g.graph).ok());
  EXPECT_THAT(g.graph.outputs, ElementsAre(b));
}

TEST_F(SelectOutputs, MistakesAreNamed) {
  EXPECT_THAT(message({"Neg_b:1"}), HasSubstr("has 1 outputs"));
  EXPECT_THAT(message({"nowhere"}), HasSubstr("'nowhere' names nothing"));
  EXPECT_THAT(message({"Neg_b:0", "a"}), HasSubstr("one style"));
  EXPECT_THAT(message({"a", "a"}), HasSubstr("twice"));
  EXPECT_THAT(message({"x"}), HasSubstr("an input"));
  EXPECT_THAT(message({"w"}), HasSubstr("a weight"));
}

TEST(OutNodes, TheListIsSplitAtSemicolons) {
  EXPECT_THAT(*parse_out_nodes("n1:0; n2:1;"), ElementsAre("n1:0", "n2:1"));
  EXPECT_TRUE(parse_out_nodes("")->empty());
  EXPECT_FALSE(parse_out_nodes(" ; ").ok());
}

TEST(OutputTypes, OneForAllOrOneForEach) {
  EXPECT_EQ(parse_output_types("FP16")->all, DType::f16);
  const auto each = parse_output_types("n1:0:FP16;n2:1:INT8");
  ASSERT_TRUE(each.ok()) << each.status().to_string();
  EXPECT_EQ(each->of_output[1], (std::pair<std::string, DType>{"n2:1", DType::i8}));
  EXPECT_FALSE(parse_output_types("")->any());
  EXPECT_EQ(parse_type_name("FP23"), DType::undefined);
}

TEST(OutputTypes, MistakesAreNamed) {
  const auto message = [](const char* text) { return parse_output_types(text).status().message(); };
  EXPECT_THAT(message("FP23"), HasSubstr("'FP23'"));
  EXPECT_THAT(message("n1:0:FP16;n1:0:FP32"), HasSubstr("twice"));
  EXPECT_THAT(message("n1:FP16"), HasSubstr("n1:FP16"));
}

TEST(OutputTypes, AnOutputThatIsNotThereIsRefused) {
  const auto types = parse_output_types("n1:0:FP16");
  EXPECT_THAT(*fit_output_types(*types, {"n0:0:a", "n1:0:b"}),
              ElementsAre(DType::undefined, DType::f16));
  EXPECT_THAT(fit_output_types(*types, {"n0:0:a"}).status().message(), HasSubstr("'n1:0'"));
}

}  // namespace
}  // namespace anynpu::compile
