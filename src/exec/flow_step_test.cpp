// SPDX-License-Identifier: Apache-2.0
#include "exec/flow_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/graph_for_test.h"
#include "exec/node_runner.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

graph::Node general_flow(const std::string& op, size_t inputs, size_t outputs,
                         std::map<std::string, graph::Attr> attrs, int64_t opset = 13) {
  graph::Node node;
  node.op = op;
  node.name = op + "1";
  node.opset = opset;
  for (size_t i = 0; i < inputs + outputs; ++i)
    (i < inputs ? node.inputs : node.outputs).push_back(static_cast<ValueId>(i));
  node.attrs = std::move(attrs);
  return node;
}

// Runs `node`; `results` are its outputs.
Status run_flow(const graph::Node& node, const std::vector<RunValue>& inputs,
                std::vector<RunValue>& results) {
  ANYNPU_ASSIGN(const auto step, make_flow_step(node, ops::Target::host(), nullptr));
  results.resize(node.outputs.size());
  const auto pointers = pointers_to(inputs);
  return step->run(pointers, results);
}

// A body that appends a row to x, one longer in each iteration, and scans out its length.
std::shared_ptr<const graph::Graph> growing_body() {
  NetBuilder b;
  b.input("i", {}, DType::i64);
  const ValueId go = b.input("go", {}, DType::boolean);
  const ValueId x = b.input("x", {-1});
  b.output(b.node("Identity", {go}));
  b.output(b.node("Concat", {x, b.floats({7}, {1})}, {{"axis", int64_t{0}}}));
  b.output(b.node("Size", {x}));
  return b.body();
}

TEST(FlowStep, ALoopMayGrowATensor) {
  const graph::Node node = general_flow("Loop", 3, 2, {{"body", growing_body()}});
  std::vector<RunValue> results;
  const Status status = run_flow(
      node, {run_tensor<int64_t>({}, {3}), RunValue{}, run_tensor<float>({1}, {1})}, results);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(run_elements<float>(results[0]), ElementsAre(1, 7, 7, 7));
  EXPECT_THAT(run_elements<int64_t>(results[1]), ElementsAre(1, 2, 3));
}

TEST(FlowStep, ALoopThatRunsNoTimesGivesEmptyStacks) {
  const graph::Node node = general_flow("Loop", 3, 2, {{"body", growing_body()}});
  std::vector<RunValue> results;
  ASSERT_TRUE(run_flow(node,
                       {run_tensor<int64_t>({}, {5}), run_tensor<bool>({}, {false}),
                        run_tensor<float>({1}, {1})},
                       results)
                  .ok());
  EXPECT_THAT(run_elements<float>(results[0]), ElementsAre(1));
  EXPECT_EQ(results[1].shape, (Shape{0}));
}

std::shared_ptr<const graph::Graph> sum_body() {
  NetBuilder b;
  const ValueId sum = b.input("sum", {-1}), row = b.input("row", {-1});
  const ValueId next = b.node("Add", {sum, row});
  b.output(next);
  b.output(b.node("Identity", {next}));
  return b.body();
}

TEST(FlowStep, AScanGoesBackwardsAndAlongAnyAxis) {
  const graph::Node node = general_flow("Scan", 2, 2,
                                        {{"body", sum_body()},
                                         {"num_scan_inputs", int64_t{1}},
                                         {"scan_input_axes", Ints{1}},
                                         {"scan_input_directions", Ints{1}},
                                         {"scan_output_axes", Ints{-1}},
                                         {"scan_output_directions", Ints{1}}});
  std::vector<RunValue> results;
  const Status status = run_flow(
      node, {run_tensor<float>({2}, {0, 0}), run_tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
      results);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(run_elements<float>(results[0]), ElementsAre(6, 15));
  EXPECT_EQ(results[1].shape, (Shape{2, 3}));
  EXPECT_THAT(run_elements<float>(results[1]), ElementsAre(6, 5, 3, 15, 11, 6));
}

TEST(FlowStep, ScannedInputsMustHaveTheSameNumberOfSlices) {
  NetBuilder b;
  const ValueId one = b.input("a", {-1}), other = b.input("b", {-1});
  b.output(b.node("Add", {one, other}));
  const graph::Node node =
      general_flow("Scan", 2, 1, {{"body", b.body()}, {"num_scan_inputs", int64_t{2}}});
  std::vector<RunValue> results;
  const Status status = run_flow(
      node, {run_tensor<float>({2, 1}, {1, 2}), run_tensor<float>({3, 1}, {1, 2, 3})}, results);
  EXPECT_EQ(status.code(), Code::shape_mismatch);
  EXPECT_THAT(status.message(), HasSubstr("2 and 3 slices"));
}

TEST(FlowStep, AScanOfOpset8HasABatchWithLengthsOfItsOwn) {
  const graph::Node node =
      general_flow("Scan", 3, 2, {{"body", sum_body()}, {"num_scan_inputs", int64_t{1}}}, 8);
  std::vector<RunValue> results;
  const Status status =
      run_flow(node,
               {run_tensor<int64_t>({2}, {2, 1}), run_tensor<float>({2, 1}, {0, 100}),
                run_tensor<float>({2, 2, 1}, {1, 2, 3, 4})},
               results);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(run_elements<float>(results[0]), ElementsAre(3, 103));
  EXPECT_THAT(run_elements<float>(results[1]), ElementsAre(1, 3, 103, 0)) << "0 behind its length";
}

TEST(FlowStep, AnIfChoosesBetweenShapes) {
  const auto slice = [](int64_t count) {
    NetBuilder b;
    const ValueId x = b.input("x", {-1});
    b.output(b.node("Slice", {x, b.ints({0}), b.ints({count})}));
    return b.body();
  };
  const graph::Node node = general_flow(
      "If", 2, 1, {{"then_branch", slice(1)}, {"else_branch", slice(2)}, {"captures", int64_t{1}}});
  for (const bool condition : {true, false}) {
    std::vector<RunValue> results;
    const Status status = run_flow(
        node, {run_tensor<bool>({}, {condition}), run_tensor<float>({3}, {5, 6, 7})}, results);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(run_elements<float>(results[0]),
              condition ? std::vector<float>{5} : (std::vector<float>{5, 6}));
  }
}

TEST(FlowStep, SequenceMapRunsItsBodyForEachElement) {
  NetBuilder b;
  b.output(b.node("Neg", {b.input("x", {-1})}));
  const graph::Node node = general_flow("SequenceMap", 1, 1, {{"body", b.body()}}, 17);
  auto items = take_items();
  items->add() = run_tensor<float>({1}, {1});
  items->add() = run_tensor<float>({2}, {2, 3});
  RunValue sequence;
  sequence.set_sequence(DType::f32, std::move(items));
  std::vector<RunValue> results;
  const Status status = run_flow(node, {sequence}, results);
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_EQ(results[0].kind, RunValue::Kind::sequence);
  ASSERT_EQ(results[0].items->size(), 2u);
  EXPECT_THAT(run_elements<float>((*results[0].items)[1]), ElementsAre(-2, -3));

  EXPECT_EQ(run_flow(node, {run_tensor<float>({1}, {1})}, results).code(), Code::unsupported_dtype);
}

TEST(FlowStep, AsAStepOfAPlanItsOutputsMustFitTheModel) {
  const graph::Node node = general_flow("Loop", 3, 2, {{"body", growing_body()}});
  const TensorShape number{DType::i64, {}}, none{};
  const auto plan = plan_flow(node, {number, none, {DType::f32, {1}}},
                              {{DType::f32, {3}}, {DType::i64, {2}}}, ops::Target::host(), nullptr);
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  const float x = 1;
  float y[3];
  int64_t lengths[2];
  for (const int64_t count : {int64_t{2}, int64_t{1}}) {
    const std::byte* const from[] = {reinterpret_cast<const std::byte*>(&count), nullptr,
                                     reinterpret_cast<const std::byte*>(&x)};
    std::byte* const to[] = {reinterpret_cast<std::byte*>(y),
                             reinterpret_cast<std::byte*>(lengths)};
    const Status status = (*plan)->run({from, to});
    if (count == 2) {
      ASSERT_TRUE(status.ok()) << status.to_string();
      EXPECT_THAT(y, ElementsAre(1, 7, 7));
      EXPECT_THAT(lengths, ElementsAre(1, 2));
    } else {
      EXPECT_EQ(status.code(), Code::shape_mismatch);
      EXPECT_THAT(status.message(), HasSubstr("output 0 has float32 2 in this run"));
    }
  }
}

}  // namespace
}  // namespace anynpu::exec
