// SPDX-License-Identifier: Apache-2.0
#include "exec/plan.h"

#include <gtest/gtest.h>

#include "graph/tensor_value.h"

namespace anynpu::exec {
namespace {

// Nodes in a row, each with one input and one output of the same shape.
class RowOfNodes {
 public:
  explicit RowOfNodes(const Shape& shape) : shape_(shape) {
    last_ = graph_.add_value(graph::tensor_value("x", DType::f32, shape));
    graph_.inputs = {last_};
  }
  RowOfNodes& then(const std::string& op, std::vector<graph::ValueId> more = {}) {
    graph::Node node;
    node.op = op;
    node.opset = 13;
    node.name = op + std::to_string(graph_.nodes.size());
    node.inputs = {last_};
    node.inputs.insert(node.inputs.end(), more.begin(), more.end());
    last_ = graph_.add_value(
        graph::tensor_value("v" + std::to_string(graph_.values.size()), DType::f32, shape_));
    node.outputs = {last_};
    graph_.nodes.push_back(std::move(node));
    return *this;
  }
  Result<Plan> plan() {
    graph_.outputs = {last_};
    pool_.open();
    return make_plan(graph_, ops::Target::host(), pool_);
  }

 private:
  graph::Graph graph_;
  const Shape shape_;
  graph::ValueId last_;
  WeightPool pool_;
};

TEST(Plan, TheLastStepWritesTheCallersBufferAndTheFirstReadsIt) {
  auto made = RowOfNodes({8, 8}).then("Softmax").then("Softmax").plan();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_EQ(made->steps.size(), 2u);
  EXPECT_EQ(made->outputs[0].shape, (Shape{8, 8}));
  EXPECT_TRUE(made->memory_known);
  EXPECT_FALSE(made->on_device);
  EXPECT_EQ(made->steps[0].op, "Softmax");
  EXPECT_FALSE(made->steps[0].kernel.empty());
}

TEST(Plan, AChainNeedsNoMoreMemoryThanItsWidestPlace) {
  RowOfNodes two({64, 64}), ten({64, 64});
  two.then("Softmax").then("Softmax").then("Softmax");
  for (int i = 0; i < 10; ++i) ten.then("Softmax");
  const auto few = two.plan(), many = ten.plan();
  ASSERT_TRUE(few.ok() && many.ok());
  EXPECT_EQ(few->work_bytes, many->work_bytes);
}

TEST(Plan, ElementWiseNodesBecomeOneStep) {
  const auto made = RowOfNodes({4, 4}).then("Relu").then("Exp").then("Neg").plan();
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->steps.size(), 1u);
  EXPECT_EQ(made->steps[0].op, "FusedElementwise");
}

TEST(Plan, AFailureNamesTheNode) {
  const auto made = RowOfNodes({4, 4}).then("Softmax").then("NoSuchOperator").plan();
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().to_string().find("NoSuchOperator1"), std::string::npos)
      << made.status().to_string();
}

}  // namespace
}  // namespace anynpu::exec
