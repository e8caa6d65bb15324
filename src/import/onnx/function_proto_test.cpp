// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/function_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WireWriter function(const std::string& name) {
  WireWriter out, opset;
  opset.text(1, "");
  opset.integer(2, 13);
  out.text(1, name);
  out.text(4, "x");
  out.text(5, "y");
  out.message(7, node("Relu", "r", {"x"}, {"y"}));
  out.message(9, opset);
  out.text(10, "local");
  return out;
}

TEST(FunctionProto, IsFoundByTheNodeThatCallsIt) {
  std::string text;
  auto read = read_function(field_of(function("F"), text));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_THAT(read->inputs, ElementsAre("x"));
  EXPECT_EQ(read->nodes.size(), 1u);
  Functions functions;
  functions.add(*read);
  NodeProto call;
  call.op = "F";
  call.domain = "local";
  EXPECT_TRUE(functions.called_by(call));
  call.domain = "";
  EXPECT_FALSE(functions.called_by(call));
}

TEST(FunctionProto, ACallBecomesTheNodesOfTheFunction) {
  WireWriter graph, model, opset, own;
  graph.message(1, node("F", "call", {"a"}, {"b"}, "local"));
  graph.message(11, value_info("a", {"3"}));
  graph.message(12, value_info("b", {"3"}));
  opset.text(1, "");
  opset.integer(2, 13);
  own.text(1, "local");
  own.integer(2, 1);
  model.integer(1, 8);
  model.message(7, graph);
  model.message(8, opset);
  model.message(8, own);
  model.message(25, function("F"));
  const auto read = import(model.data());
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  std::vector<std::string> ops;
  for (const graph::Node& one : read->graph.nodes) ops.push_back(one.op);
  EXPECT_THAT(ops, testing::Contains("Relu"));
}

}  // namespace
}  // namespace anynpu::onnx
