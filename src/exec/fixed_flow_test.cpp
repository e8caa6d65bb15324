// SPDX-License-Identifier: Apache-2.0
#include "exec/fixed_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "exec/graph_for_test.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;
using testing::HasSubstr;

const TensorShape kFloats{DType::f32, {2}}, kNumber{DType::i64, {}}, kTruth{DType::boolean, {}};

class FixedFlowTest : public testing::Test {
 protected:
  // Plans `node`; false: not for this kind of step.
  bool plan(const graph::Node& node, const std::vector<TensorShape>& inputs,
            const std::vector<TensorShape>& outputs) {
    pool_.open();
    auto made = plan_fixed_flow(node, inputs, outputs, ops::Target::host(), pool_, nullptr);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (!made.ok() || !made->work) return false;
    flow_ = std::move(*made);
    const auto& chunk = pool_.chunk(WeightSide::host);
    chunk->memory = Memory::allocate(chunk->bytes).value();
    EXPECT_TRUE(flow_.inner->fill_weights().ok());
    flow_.inner->forget_graph();
    pool_.close();
    return true;
  }
  Status run(std::vector<const void*> inputs, std::vector<void*> outputs) {
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (const void* each : inputs) from.push_back(static_cast<const std::byte*>(each));
    for (void* each : outputs) to.push_back(static_cast<std::byte*>(each));
    const Memory work = Memory::allocate(flow_.work->workspace_bytes).value();
    return flow_.work->run({from, to, nullptr, work.data()});
  }
  static graph::Node flow_node(const std::string& op, size_t inputs, size_t outputs,
                               std::map<std::string, graph::Attr> attrs) {
    graph::Node node;
    node.op = op;
    node.name = op + "1";
    node.opset = 13;
    for (size_t i = 0; i < inputs + outputs; ++i)
      (i < inputs ? node.inputs : node.outputs).push_back(static_cast<ValueId>(i));
    node.attrs = std::move(attrs);
    return node;
  }

  // y = op(x) of two floats.
  static std::shared_ptr<const graph::Graph> branch(const std::string& op, Shape shape = {2}) {
    NetBuilder b;
    b.output(b.node(op, {b.input("x", std::move(shape))}));
    return b.body();
  }
  // Carries x + x, goes on while the iteration is below `most`, and scans out x.
  static std::shared_ptr<const graph::Graph> doubling_body(int64_t most) {
    NetBuilder b;
    const ValueId iteration = b.input("i", {}, DType::i64);
    b.input("go on", {}, DType::boolean);
    const ValueId x = b.input("x", {2});
    b.output(b.node("Less", {iteration, b.number(most)}));
    b.output(b.node("Add", {x, x}));
    b.output(b.node("Identity", {x}));
    return b.body();
  }

  WeightPool pool_;
  FixedFlow flow_;
};

TEST_F(FixedFlowTest, AnIfRunsTheBranchOfItsCondition) {
  const graph::Node node = flow_node(
      "If", 2, 1,
      {{"then_branch", branch("Neg")}, {"else_branch", branch("Abs")}, {"captures", int64_t{1}}});
  ASSERT_TRUE(plan(node, {kTruth, kFloats}, {kFloats}));
  const float x[] = {1, -2};
  float y[2];
  const bool yes = true, no = false;
  ASSERT_TRUE(run({&yes, x}, {y}).ok());
  EXPECT_THAT(y, testing::ElementsAre(-1, 2));
  ASSERT_TRUE(run({&no, x}, {y}).ok());
  EXPECT_THAT(y, testing::ElementsAre(1, 2));
  EXPECT_TRUE(flow_.memory_known);
}

TEST_F(FixedFlowTest, ALoopCarriesValuesAndStacksWhatItScans) {
  const graph::Node node = flow_node("Loop", 3, 2, {{"body", doubling_body(100)}});
  ASSERT_TRUE(plan(node, {kNumber, kTruth, kFloats}, {kFloats, {DType::f32, {3, 2}}}));
  const float x[] = {1, -1};
  float last[2], all[6];
  const int64_t count = 3;
  const bool yes = true;
  ASSERT_TRUE(run({&count, &yes, x}, {last, all}).ok());
  EXPECT_THAT(last, testing::ElementsAre(8, -8));
  EXPECT_THAT(all, testing::ElementsAre(1, -1, 2, -2, 4, -4));
}

TEST_F(FixedFlowTest, ALoopEndsWithItsConditionAndMustRunAsOftenAsItsOutputIsLong) {
  const graph::Node node = flow_node("Loop", 3, 2, {{"body", doubling_body(1)}});
  ASSERT_TRUE(plan(node, {kNumber, kTruth, kFloats}, {kFloats, {DType::f32, {2, 2}}}));
  const float x[] = {1, -1};
  float last[2], all[4];
  const bool yes = true;
  ASSERT_TRUE(run({nullptr, &yes, x}, {last, all}).ok()) << "no trip count";
  EXPECT_THAT(last, testing::ElementsAre(4, -4));

  for (const int64_t count : {int64_t{0}, int64_t{1}}) {
    const Status status = run({&count, &yes, x}, {last, all});
    EXPECT_EQ(status.code(), Code::shape_mismatch);
    EXPECT_THAT(status.message(), HasSubstr("ran " + std::to_string(count) + " times"));
  }
}

TEST_F(FixedFlowTest, ALoopThatNeverEndsIsStopped) {
  setenv("ANYNPU_LOOP_LIMIT", "50", 1);
  const graph::Node node = flow_node("Loop", 3, 1, {{"body", [] {
                                                       NetBuilder b;
                                                       b.input("i", {}, DType::i64);
                                                       const ValueId go =
                                                           b.input("go", {}, DType::boolean);
                                                       const ValueId x = b.input("x", {2});
                                                       b.output(b.node("Identity", {go}));
                                                       b.output(b.node("Neg", {x}));
                                                       return b.body();
                                                     }()}});
  const bool made = plan(node, {kNumber, kTruth, kFloats}, {kFloats});
  unsetenv("ANYNPU_LOOP_LIMIT");
  ASSERT_TRUE(made);
  const float x[] = {1, -1};
  float y[2];
  const bool yes = true;
  const Status status = run({nullptr, &yes, x}, {y});
  EXPECT_EQ(status.code(), Code::limit_exceeded);
  EXPECT_THAT(status.message(), HasSubstr("ANYNPU_LOOP_LIMIT"));
}

TEST_F(FixedFlowTest, AScanWalksTheFirstAxis) {
  NetBuilder b;
  const ValueId sum = b.input("sum", {2}), row = b.input("row", {2});
  const ValueId next = b.node("Add", {sum, row});
  b.output(next);
  b.output(b.node("Neg", {next}));
  const graph::Node node =
      flow_node("Scan", 2, 2, {{"body", b.body()}, {"num_scan_inputs", int64_t{1}}});
  const TensorShape rows{DType::f32, {3, 2}};
  ASSERT_TRUE(plan(node, {kFloats, rows}, {kFloats, rows}));
  const float start[] = {0, 10}, x[] = {1, 2, 3, 4, 5, 6};
  float last[2], all[6];
  ASSERT_TRUE(run({start, x}, {last, all}).ok());
  EXPECT_THAT(last, testing::ElementsAre(9, 22));
  EXPECT_THAT(all, testing::ElementsAre(-1, -12, -4, -16, -9, -22));
}

TEST_F(FixedFlowTest, OtherCasesAreLeftToTheGeneralStep) {
  const auto two_branches = [](auto one, auto other) {
    return flow_node("If", 2, 1,
                     {{"then_branch", one}, {"else_branch", other}, {"captures", int64_t{1}}});
  };
  EXPECT_FALSE(plan(two_branches(branch("Neg"), branch("Abs", {-1})), {kTruth, kFloats}, {kFloats}))
      << "an unknown shape inside";
  EXPECT_FALSE(plan(two_branches(branch("Neg"), branch("Abs", {3})), {kTruth, kFloats}, {kFloats}))
      << "branches of two shapes";
  EXPECT_FALSE(
      plan(two_branches(branch("Neg"), branch("Abs")), {kTruth, {DType::f32, {-1}}}, {kFloats}))
      << "an unknown shape outside";
  NetBuilder b;
  const ValueId sum = b.input("sum", {2}), row = b.input("row", {2});
  b.output(b.node("Add", {sum, row}));
  const graph::Node backwards = flow_node(
      "Scan", 2, 1,
      {{"body", b.body()}, {"num_scan_inputs", int64_t{1}}, {"scan_input_directions", Ints{1}}});
  EXPECT_FALSE(plan(backwards, {kFloats, {DType::f32, {3, 2}}}, {kFloats}));
}

TEST_F(FixedFlowTest, ANodeThatDoesNotFitItsGraphsIsRefused) {
  const graph::Node node = flow_node("If", 2, 1, {{"then_branch", branch("Neg")}});
  pool_.open();
  const auto made =
      plan_fixed_flow(node, {kTruth, kFloats}, {kFloats}, ops::Target::host(), pool_, nullptr);
  EXPECT_FALSE(made.ok());
}

}  // namespace
}  // namespace anynpu::exec
