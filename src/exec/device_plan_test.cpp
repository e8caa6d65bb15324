// SPDX-License-Identifier: Apache-2.0
// Plans for a back end with a few kernels of its own. What runs them is checked by tests/device.
#include <gtest/gtest.h>

#include "exec/plan.h"
#include "graph/tensor_value.h"
#include "ops/backend_kernels.h"
#include "ops/blocked_layout.h"
#include "ops/enqueued_plan.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;

class NothingPlan final : public ops::EnqueuedPlan {
 public:
  Status enqueue(const ops::RunArgs&, device::Queue&) const override { return {}; }
};
class NothingKernel final : public ops::Kernel {
 public:
  Result<std::unique_ptr<ops::KernelPlan>> plan(const ops::OpContext&) const override {
    return std::unique_ptr<ops::KernelPlan>(std::make_unique<NothingPlan>());
  }
};
Result<std::unique_ptr<ops::Kernel>> create_nothing(const ops::OpContext&) {
  return std::unique_ptr<ops::Kernel>(std::make_unique<NothingKernel>());
}

// Wants its operands with channels last, whatever the operator.
class LastPlan final : public ops::EnqueuedPlan {
 public:
  LastPlan() {
    input_layouts = {ops::Layout::channels_last};
    output_layouts = {ops::Layout::channels_last};
  }
  Status enqueue(const ops::RunArgs&, device::Queue&) const override { return {}; }
};
class LastKernel final : public ops::Kernel {
 public:
  Result<std::unique_ptr<ops::KernelPlan>> plan(const ops::OpContext&) const override {
    return std::unique_ptr<ops::KernelPlan>(std::make_unique<LastPlan>());
  }
};
Result<std::unique_ptr<ops::Kernel>> create_last(const ops::OpContext&) {
  return std::unique_ptr<ops::Kernel>(std::make_unique<LastKernel>());
}

class PlansForADevice : public testing::Test {
 protected:
  void SetUp() override {
    static const ops::KernelDef kernels[] = {{.op = "Add",
                                              .name = "elsewhere_add",
                                              .backend = "elsewhere",
                                              .types = {DType::f32},
                                              .create = create_nothing},
                                             {.op = "Sqrt",
                                              .name = "elsewhere_last",
                                              .backend = "elsewhere",
                                              .types = {DType::f32},
                                              .create = create_last},
                                             {.op = ops::kReorderOp,
                                              .name = "elsewhere_reorder",
                                              .domain = ops::kReorderDomain,
                                              .backend = "elsewhere",
                                              .types = {DType::f32},
                                              .create = create_nothing}};
    ops::add_backend_kernels(kernels);
    x_ = graph_.add_value(graph::tensor_value("x", DType::f32, kShape));
    graph_.inputs = {x_};
  }
  ValueId constant() {
    graph::Value value = graph::tensor_value("c", DType::f32, kShape);
    value.constant = graph::constant_of(std::vector<float>(16, 1));
    return graph_.add_value(std::move(value));
  }
  ValueId node(const char* op, std::vector<ValueId> inputs) {
    const ValueId y = graph_.add_value(graph::tensor_value(op, DType::f32, kShape));
    graph::Node node;
    node.op = node.name = op;
    node.opset = 13;
    node.inputs = std::move(inputs);
    node.outputs = {y};
    graph_.nodes.push_back(std::move(node));
    return y;
  }
  Result<Plan> plan() {
    weights_.open();
    return make_plan(graph_, {.backend = "elsewhere", .threads = 1}, weights_);
  }

  static inline const Shape kShape{4, 4};
  graph::Graph graph_;
  ValueId x_ = graph::kNoValue;
  WeightPool weights_;
};

TEST_F(PlansForADevice, StepsWithoutAKernelFallBackAndSaySo) {
  graph_.outputs = {node("Softmax", {node("Add", {x_, x_})})};
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_EQ(made->steps.size(), 2u);
  EXPECT_TRUE(made->on_device);
  EXPECT_FALSE(made->steps[0].fallback);
  EXPECT_EQ(made->steps[0].kernel, "elsewhere_add");
  EXPECT_TRUE(made->steps[1].fallback);
  EXPECT_TRUE(made->steps[1].kernel.ends_with(" (on the host)")) << made->steps[1].kernel;
}

TEST_F(PlansForADevice, TensorsBetweenFallbackStepsStayOnTheHost) {
  const ValueId soft = node("Softmax", {x_});
  const ValueId turned = node("Transpose", {soft});  // not in place
  graph_.outputs = {node("Add", {turned, node("Add", {x_, x_})})};
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_EQ(made->steps.size(), 4u);
  EXPECT_EQ(made->steps[0].outputs[0].memory,
            OperandMemory::host_arena);                               // Transpose alone reads it
  EXPECT_EQ(made->steps[1].outputs[0].memory, OperandMemory::arena);  // Add reads it
  EXPECT_EQ(made->steps[2].outputs[0].memory, OperandMemory::arena);
  EXPECT_GE(made->work_bytes, 2 * 64u);
  EXPECT_GE(made->host_work_bytes, 64u);
}

TEST_F(PlansForADevice, ConstantsLieWhereTheirReadersAre) {
  const ValueId shared = constant();
  graph_.outputs = {node("Mul", {node("Add", {x_, shared}), shared})};
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_EQ(made->steps.size(), 2u);
  const Slot device_side = made->steps[0].inputs[1], host_side = made->steps[1].inputs[1];
  ASSERT_EQ(device_side.memory, OperandMemory::weights);
  ASSERT_EQ(host_side.memory, OperandMemory::weights);
  EXPECT_EQ(made->chunks[device_side.chunk]->side, WeightSide::device);
  EXPECT_EQ(made->chunks[host_side.chunk]->side, WeightSide::host);
  EXPECT_EQ(weights_.chunk(WeightSide::device)->bytes, 64u);
}

TEST_F(PlansForADevice, LayoutsAreTurnedOnTheDeviceAndOnlyWhereTheyDiffer) {
  graph_.outputs = {node("Add", {node("Sqrt", {node("Sqrt", {x_})}), x_})};
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  std::vector<std::string> kernels;
  for (const PlanStep& step : made->steps) {
    EXPECT_FALSE(step.fallback) << step.name;
    kernels.push_back(step.kernel);
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"reorder", "elsewhere_last", "elsewhere_last",
                                               "reorder", "elsewhere_add"}));
  EXPECT_EQ(made->steps[0].out[0].layout, ops::Layout::channels_last);
  EXPECT_EQ(made->steps[3].out[0].layout, ops::Layout::plain);
}

TEST_F(PlansForADevice, MemoryIsUsedAgainOnlyAFewStepsLater) {
  ValueId y = x_;
  for (int i = 0; i < 8; ++i) y = node("Add", {y, y});
  graph_.outputs = {y};
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_NE(made->steps[0].outputs[0].offset, made->steps[2].outputs[0].offset);
  EXPECT_EQ(made->steps[1].outputs[0].offset % 512, 0u);
}

TEST_F(PlansForADevice, AnOutputThatIsAnInputIsCopiedByTheQueue) {
  graph_.outputs = {x_};
  const auto made = plan();
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_EQ(made->steps.size(), 1u);
  EXPECT_FALSE(made->steps[0].fallback);
  EXPECT_NE(dynamic_cast<const ops::EnqueuedPlan*>(made->steps[0].work.get()), nullptr);
}

}  // namespace
}  // namespace anynpu::exec
