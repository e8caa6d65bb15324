// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "tensor/texts.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

class FoldTextsTest : public PassTest {
 protected:
  graph::ValueId words(const std::string& name, std::vector<std::string_view> list) {
    graph::Value value =
        graph::tensor_value(name, DType::string, {static_cast<int64_t>(list.size())});
    value.constant = graph::constant_of(pack_texts(list));
    return g.graph.add_value(value);
  }
};

TEST_F(FoldTextsTest, AGraphWithoutStringsStays) {
  g.graph.outputs = {node("Relu", {g.input("x", {2})})};
  ASSERT_TRUE(fold_texts(g.graph, {}).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
  EXPECT_FALSE(g.graph.values.back().has_shape) << "nothing was inferred";
}

TEST_F(FoldTextsTest, ComparedStringsBecomeAConstant) {
  const graph::ValueId same = node("Equal", {words("a", {"x", "y"}), words("b", {"x", "z"})});
  g.graph.nodes.back().opset = 19;
  g.graph.outputs = {node("Not", {same})};
  const Status status = fold_texts(g.graph, {});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(g.graph.nodes.empty());
}

TEST_F(FoldTextsTest, StringsAtTheBorderAreRefused) {
  const graph::ValueId x = g.input("x", {2});
  g.graph.values[static_cast<size_t>(x)].dtype = DType::string;
  g.graph.outputs = {node("Identity", {x})};
  EXPECT_THAT(fold_texts(g.graph, {}).message(), HasSubstr("input 'x' is a tensor of strings"));
}

TEST_F(FoldTextsTest, OperatorsThatComputeCannotTakeStrings) {
  g.graph.outputs = {node("Shape", {node("Relu", {words("a", {"x"})})})};
  EXPECT_THAT(fold_texts(g.graph, {}).to_string(), HasSubstr("cannot compute with strings"));
}

}  // namespace
}  // namespace anynpu::compile
