// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WireWriter branch_attr(const std::string& name, const WireWriter& inner) {
  WireWriter attr;
  attr.text(1, name);
  attr.message(6, inner);
  attr.integer(20, 5);
  return attr;
}

WireWriter branch(const std::string& op) {
  WireWriter inner;
  inner.message(1, node(op, "in_" + op, {"x"}, {"z"}));
  inner.text(2, op);
  inner.message(12, value_info("z", {"3"}));
  return inner;
}

TEST(GraphScopes, ABranchCapturesTheValuesAroundIt) {
  WireWriter graph, conditional = node("If", "if", {"c"}, {"y"});
  conditional.message(5, branch_attr("then_branch", branch("Neg")));
  conditional.message(5, branch_attr("else_branch", branch("Abs")));
  graph.message(1, conditional);
  graph.message(11, value_info("x", {"3"}));
  graph.message(11, value_info("c", {}, 9));
  graph.message(12, value_info("y", {"3"}));
  const auto model = import(model_of(graph));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  EXPECT_EQ(model->graph.nodes[0].inputs.size(), 2u) << "the condition and x";
}

TEST(GraphScopes, ANameThatNoGraphAroundHasIsRefused) {
  WireWriter graph, conditional = node("If", "if", {"c"}, {"y"});
  conditional.message(5, branch_attr("then_branch", branch("Neg")));
  conditional.message(5, branch_attr("else_branch", branch("Abs")));
  graph.message(1, conditional);
  graph.message(11, value_info("c", {}, 9));
  graph.message(12, value_info("y", {"3"}));
  EXPECT_THAT(import(model_of(graph)).status().to_string(), HasSubstr("'x'"));
}

}  // namespace
}  // namespace anynpu::onnx
