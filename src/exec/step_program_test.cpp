// SPDX-License-Identifier: Apache-2.0
#include "exec/step_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/graph_for_test.h"
#include "exec/observer.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

// The positions where 2 * x is not 0, plus 1.
NetBuilder positions_net() {
  NetBuilder b;
  const ValueId x = b.input("x", {4});
  const ValueId doubled = b.node("Softmax", {b.node("Mul", {x, b.floats({2}, {})})});
  const ValueId found = b.node("NonZero", {b.node("Mul", {x, b.floats({2}, {})})});
  b.output(b.node("Add", {found, b.ints({1})}));
  b.output(doubled);
  b.infer();
  return b;
}

std::shared_ptr<const StepProgram> program_of(
    const graph::Graph& graph, const std::shared_ptr<StepObserver>& observer = nullptr) {
  auto made = StepProgram::make(graph, ops::Target::host(), observer);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return made.ok() ? *made : nullptr;
}

TEST(StepProgram, ShapesFollowTheValuesOfEachRun) {
  const auto program = program_of(positions_net().graph);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->outputs(), 2u);
  for (int round = 0; round < 2; ++round) {
    std::vector<RunValue> results(2);
    const RunValue x[] = {run_tensor<float>({4}, {0, 5, 0, 6})};
    ASSERT_TRUE(program->run(x, results).ok());
    EXPECT_THAT(run_elements<int64_t>(results[0]), ElementsAre(2, 4));
    EXPECT_EQ(run_elements<float>(results[1]).size(), 4u);
    const RunValue zeros[] = {run_tensor<float>({4}, {0, 0, 0, 0})};
    ASSERT_TRUE(program->run(zeros, results).ok());
    EXPECT_EQ(results[0].shape, (Shape{1, 0}));
  }
}

TEST(StepProgram, PartsOfFixedShapesArePlans) {
  const auto program = program_of(positions_net().graph);
  ASSERT_NE(program, nullptr);
  std::vector<std::string> stepped;
  size_t planned = 0;
  for (const StepInfo& info : program->steps()) {
    if (info.kernel == "step") {
      stepped.push_back(info.name);
    } else {
      ++planned;
    }
  }
  EXPECT_THAT(stepped, ElementsAre(HasSubstr("NonZero"), HasSubstr("Add")));
  EXPECT_GE(planned, 2u);
}

TEST(StepProgram, AFailureNamesTheNode) {
  NetBuilder b;
  const ValueId x = b.input("x", {-1}), y = b.input("y", {-1});
  b.output(b.node("Add", {x, y}));
  b.infer();
  const auto program = program_of(b.graph);
  ASSERT_NE(program, nullptr);
  std::vector<RunValue> results(1);
  const RunValue bad[] = {run_tensor<float>({2}, {1, 2}), run_tensor<float>({3}, {1, 2, 3})};
  const Status status = program->run(bad, results);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.to_string(), HasSubstr("while running node 'Add0'"));
  const RunValue good[] = {run_tensor<float>({1}, {1}), run_tensor<float>({1}, {2})};
  ASSERT_TRUE(program->run(good, results).ok()) << "a failure leaves nothing behind";
  EXPECT_THAT(run_elements<float>(results[0]), ElementsAre(3));
}

TEST(StepProgram, AShapeThatTheModelStatesIsChecked) {
  NetBuilder b;
  const ValueId found = b.node("NonZero", {b.input("x", {4})});
  const ValueId negated = b.node("Neg", {found});
  b.output(negated);
  b.infer();
  graph::Value& stated = b.graph.values[static_cast<size_t>(negated)];
  stated.shape = {1, 2};
  stated.has_shape = true;
  const auto program = program_of(b.graph);
  ASSERT_NE(program, nullptr);
  std::vector<RunValue> results(1);
  const RunValue two[] = {run_tensor<float>({4}, {1, 0, 0, 1})};
  ASSERT_TRUE(program->run(two, results).ok());
  EXPECT_THAT(run_elements<int64_t>(results[0]), ElementsAre(0, -3));
  const RunValue three[] = {run_tensor<float>({4}, {1, 1, 0, 1})};
  const Status status = program->run(three, results);
  EXPECT_EQ(status.code(), Code::shape_mismatch);
  EXPECT_THAT(status.message(), HasSubstr("1x3 in this run, the model states 1x2"));
}

TEST(StepProgram, AnObserverSeesStepsAndNodesInsideOfPlans) {
  struct Names final : StepObserver {
    std::vector<std::string> before_names, after_names;
    Status before(const StepView& step) override {
      before_names.push_back(step.op);
      return {};
    }
    Status after(const StepView& step) override {
      after_names.push_back(step.op);
      EXPECT_NE(step.outputs[0].data, nullptr);
      return {};
    }
  };
  const auto observer = std::make_shared<Names>();
  const auto program = program_of(positions_net().graph, observer);
  ASSERT_NE(program, nullptr);
  std::vector<RunValue> results(2);
  const RunValue x[] = {run_tensor<float>({4}, {0, 5, 0, 6})};
  ASSERT_TRUE(program->run(x, results).ok());
  EXPECT_THAT(observer->before_names, testing::Contains("NonZero"));
  EXPECT_THAT(observer->before_names, testing::Contains("Softmax"));
  EXPECT_EQ(observer->before_names, observer->after_names);
}

TEST(StepProgram, ConstantsMayStartAnywhere) {
  NetBuilder b;
  const ValueId x = b.input("x", {-1});
  const ValueId two = b.floats({2}, {1});
  b.output(b.node("Mul", {x, two}));
  b.infer();
  auto bytes = std::make_shared<std::vector<std::byte>>(5);
  const float value = 2;
  std::memcpy(bytes->data() + 1, &value, 4);
  b.graph.values[static_cast<size_t>(two)].constant =
      std::make_shared<const graph::Constant>(graph::Constant{bytes, std::span(*bytes).subspan(1)});
  const auto program = program_of(b.graph);
  ASSERT_NE(program, nullptr);
  std::vector<RunValue> results(1);
  const RunValue given[] = {run_tensor<float>({2}, {3, 4})};
  ASSERT_TRUE(program->run(given, results).ok());
  EXPECT_THAT(run_elements<float>(results[0]), ElementsAre(6, 8));
}

}  // namespace
}  // namespace anynpu::exec
