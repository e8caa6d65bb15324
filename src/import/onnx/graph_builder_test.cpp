// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

TEST(OnnxGraph, GraphInputsAreTheInputsWithoutInitializers) {
  auto model = import(sample());
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->producer, "maker 1.0");
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(graph::print(model->graph),
            "graph sample\n"
            "  input  %x: float32[?x3]\n"
            "  const  %w: float32[3]\n"
            "  const  %s: float32[3]\n"
            "  %sum: undefined[*] = Add \"Add_0\" (%x, %w)\n"
            "  %all: undefined[*] = Add \"Add_1\" (%sum, %s)\n"
            "  %y: float32[?x3] = Relu \"Relu_2\" (%all)\n"
            "  output %y: float32[?x3]\n");
  EXPECT_EQ(model->graph.nodes[0].opset, 13);
}

TEST(OnnxGraph, NodeNamesBecomeUnique) {
  WireWriter graph;
  graph.message(1, node("Relu", "same", {"x"}, {"a"}));
  graph.message(1, node("Relu", "same", {"a"}, {"b"}));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info("b", {"3"}));
  auto model = import(model_of(graph));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->graph.nodes[0].name, "same");
  EXPECT_EQ(model->graph.nodes[1].name, "same_1");
}

TEST(OnnxGraph, ConstantNodesBecomeConstants) {
  WireWriter attr, constant, graph;
  attr.text(1, "value_floats");
  attr.packed(7, std::vector<float>{1, 2, 3});
  attr.integer(20, 6);
  constant = node("Constant", "c", {}, {"w"});
  constant.message(5, attr);
  graph.message(1, constant);
  graph.message(1, node("Add", "add", {"x", "w"}, {"y"}));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info("y", {"3"}));
  auto model = import(model_of(graph));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  const graph::Value& w = model->graph.values[static_cast<size_t>(model->graph.nodes[0].inputs[1])];
  ASSERT_TRUE(w.constant);
  EXPECT_EQ(w.shape, (Shape{3}));
  EXPECT_EQ(w.constant->bytes.size(), 12u);
}

TEST(OnnxGraph, AllUnsupportedOperatorsComeInOneMessage) {
  WireWriter inner_graph, branch, graph;
  inner_graph.message(1, node("NoSuchInner", "in", {}, {"z"}));
  branch.text(1, "then_branch");
  branch.message(6, inner_graph);
  WireWriter conditional = node("NoSuchIf", "cond", {"a"}, {"b"});
  conditional.message(5, branch);
  graph.message(1, node("NoSuchOp", "first", {"x"}, {"a"}));
  graph.message(1, conditional);
  graph.message(1, node("Relu", "third", {"b"}, {"c"}, "my.domain"));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info("c", {"3"}));
  const Status status = import(model_of(graph)).status();
  EXPECT_EQ(status.code(), Code::unsupported_op);
  for (const char* part :
       {"4 operators", "NoSuchOp 'first' (domain 'ai.onnx', opset 13)", "NoSuchIf 'cond'",
        "NoSuchInner 'in'", "Relu 'third' (domain 'my.domain'"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part << "\n" << status.message();
  }
}

}  // namespace
}  // namespace anynpu::onnx
