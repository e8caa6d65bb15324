// SPDX-License-Identifier: Apache-2.0
// make_operator_step: an operator planned for the shapes of each run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "exec/graph_for_test.h"
#include "exec/node_runner.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

// The last node of a graph as a step.
class OperatorStepTest : public testing::Test {
 protected:
  void make() {
    auto made = make_operator_step(net_.graph, net_.graph.nodes.back(), ops::Target::host());
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    step_ = std::move(*made);
  }
  Status run(const std::vector<RunValue>& inputs, RunValue& output) {
    const auto pointers = pointers_to(inputs);
    return step_->run(pointers, {&output, 1});
  }

  NetBuilder net_;
  std::unique_ptr<NodeRunner> step_;
};

TEST_F(OperatorStepTest, EachRunMayHaveOtherShapes) {
  const ValueId x = net_.input("x", {-1}), y = net_.input("y", {-1});
  net_.node("Add", {x, y});
  make();
  for (int round = 0; round < 2; ++round) {
    RunValue sum;
    ASSERT_TRUE(run({run_tensor<float>({2}, {1, 2}), run_tensor<float>({1}, {10})}, sum).ok());
    EXPECT_THAT(run_elements<float>(sum), ElementsAre(11, 12));
    ASSERT_TRUE(run({run_tensor<float>({1}, {3}), run_tensor<float>({3}, {1, 2, 3})}, sum).ok());
    EXPECT_THAT(run_elements<float>(sum), ElementsAre(4, 5, 6));
  }
}

TEST_F(OperatorStepTest, IntegersOfTheRunDecideShapes) {
  const ValueId x = net_.input("x", {-1}), shape = net_.input("shape", {-1}, DType::i64);
  net_.node("Expand", {x, shape});
  make();
  for (int64_t extent : {2, 3, 2}) {
    RunValue y;
    const Status status = run({run_tensor<float>({1}, {5}), run_tensor<int64_t>({1}, {extent})}, y);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(run_elements<float>(y), std::vector<float>(static_cast<size_t>(extent), 5));
  }
}

TEST_F(OperatorStepTest, ValuesOfTheRunDecideShapes) {
  net_.node("NonZero", {net_.input("x", {-1})});
  make();
  RunValue y;
  ASSERT_TRUE(run({run_tensor<float>({4}, {0, 1, 0, 2})}, y).ok());
  EXPECT_EQ(y.shape, (Shape{1, 2}));
  EXPECT_THAT(run_elements<int64_t>(y), ElementsAre(1, 3));
  ASSERT_TRUE(run({run_tensor<float>({4}, {7, 0, 0, 0})}, y).ok());
  EXPECT_THAT(run_elements<int64_t>(y), ElementsAre(0));
}

TEST_F(OperatorStepTest, AViewSharesTheMemoryOfItsInput) {
  const ValueId x = net_.input("x", {-1, -1});
  net_.node("Flatten", {x});
  make();
  const RunValue given = run_tensor<float>({2, 2}, {1, 2, 3, 4});
  RunValue y;
  ASSERT_TRUE(run({given}, y).ok());
  EXPECT_EQ(y.data, given.data);
  EXPECT_EQ(y.shape, (Shape{2, 2}));
}

TEST_F(OperatorStepTest, BlockedLayoutsStayInside) {
  const ValueId x = net_.input("x", {-1, 3, -1, -1});
  net_.node("Conv", {x, net_.floats({1, 10, 100}, {1, 3, 1, 1})});
  make();
  const RunValue weights = run_tensor<float>({1, 3, 1, 1}, {1, 10, 100});
  for (int64_t width : {2, 1}) {
    std::vector<float> in(static_cast<size_t>(3 * width), 1), out(static_cast<size_t>(width), 111);
    RunValue y;
    const Status status = run({run_tensor<float>({1, 3, 1, width}, in), weights}, y);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(run_elements<float>(y), out);
  }
}

TEST_F(OperatorStepTest, ASequenceIsNoOperand) {
  net_.node("Neg", {net_.input("x", {-1})});
  make();
  RunValue sequence, y;
  sequence.set_sequence(DType::f32, take_items());
  const Status status = run({sequence}, y);
  EXPECT_EQ(status.code(), Code::unsupported_dtype);
  EXPECT_THAT(status.message(), HasSubstr("input 0 is a sequence"));
}

TEST_F(OperatorStepTest, UnknownOperatorsAreRefusedWhenTheModelIsLoaded) {
  net_.node("NoSuchOperator", {net_.input("x", {-1})});
  EXPECT_EQ(
      make_operator_step(net_.graph, net_.graph.nodes.back(), ops::Target::host()).status().code(),
      Code::unsupported_op);
}

TEST_F(OperatorStepTest, ThreadsRunItAtTheSameTime) {
  const ValueId x = net_.input("x", {-1});
  net_.node("MatMul", {x, net_.floats({1, 2, 3, 4}, {2, 2})});
  make();
  const RunValue weights = run_tensor<float>({2, 2}, {1, 2, 3, 4});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int64_t rows = 1; rows < 40; ++rows) {
        std::vector<float> in(static_cast<size_t>(2 * rows), 1);
        RunValue y;
        EXPECT_TRUE(run({run_tensor<float>({rows, 2}, in), weights}, y).ok());
        const auto got = run_elements<float>(y);
        ASSERT_EQ(got.size(), in.size());
        EXPECT_EQ(got.front(), 4);
        EXPECT_EQ(got.back(), 6);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace anynpu::exec
