// SPDX-License-Identifier: Apache-2.0
#include "compile/model_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

json::Value small_tree() {
  GraphForTest g;
  g.graph.outputs = {g.node("Add", {g.input("x", {2}), g.weight("w", {2})}, "y")};
  EXPECT_TRUE(infer_and_fold(g.graph).ok());
  return to_json(g.graph, "model");
}

TEST(ModelJson, InputsWeightsNodesAndOutputsAreOps) {
  const std::string text = small_tree().dump();
  for (const char* part : {"\"Data\"", "\"Const\"", "\"Add\"", "\"NetOutput\"", "Add_y:0"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ModelJson, ProtobufTextComesBackAsTheSameTree) {
  const json::Value tree = small_tree();
  const auto back = from_prototext(to_prototext(tree));
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back->dump(), tree.dump());
}

TEST(ModelJson, FieldsThatAreThereTwiceBecomeAList) {
  const auto tree = from_prototext("name: 'n' number: 1 number: 2 flag: true");
  ASSERT_TRUE(tree.ok()) << tree.status().to_string();
  EXPECT_THAT(tree->dump(), HasSubstr("[1,2]"));
  EXPECT_FALSE(from_prototext("a {").ok());
}

}  // namespace
}  // namespace anynpu::compile
