// SPDX-License-Identifier: Apache-2.0
// make_sequence_step: operators of sequences and optionals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/graph_for_test.h"
#include "exec/node_runner.h"

namespace anynpu::exec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

graph::Node sequence_node(const std::string& op, std::map<std::string, graph::Attr> attrs = {}) {
  graph::Node node;
  node.op = op;
  node.name = op + "1";
  node.attrs = std::move(attrs);
  return node;
}

Status run_sequence_op(const graph::Node& node, const std::vector<RunValue>& inputs,
                       RunValue& out) {
  EXPECT_TRUE(is_sequence_op(node)) << node.op;
  ANYNPU_ASSIGN(const auto step, make_sequence_step(node));
  const auto pointers = pointers_to(inputs);
  return step->run(pointers, {&out, 1});
}
RunValue run_sequence_op(const graph::Node& node, const std::vector<RunValue>& inputs) {
  RunValue out;
  const Status status = run_sequence_op(node, inputs, out);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return out;
}

RunValue one(float x) { return run_tensor<float>({1}, {x}); }
RunValue at(int64_t position) { return run_tensor<int64_t>({}, {position}); }
RunValue sequence_of(const std::vector<float>& firsts) {
  std::vector<RunValue> tensors;
  for (float x : firsts) tensors.push_back(one(x));
  return run_sequence_op(sequence_node("SequenceConstruct"), tensors);
}
// The first element of each tensor.
std::vector<float> firsts_of(const RunValue& sequence) {
  std::vector<float> firsts;
  EXPECT_EQ(sequence.kind, RunValue::Kind::sequence);
  for (const RunValue& item : sequence.items->values())
    firsts.push_back(run_elements<float>(item)[0]);
  return firsts;
}

TEST(SequenceStep, OnlyItsOperatorsAreTaken) {
  EXPECT_TRUE(is_sequence_op(sequence_node("SequenceAt")));
  EXPECT_FALSE(is_sequence_op(sequence_node("Relu")));
  graph::Node other = sequence_node("SequenceAt");
  other.domain = "custom";
  EXPECT_FALSE(is_sequence_op(other));
}

TEST(SequenceStep, ASequenceIsMadeAndItsElementsAreReadFromBothEnds) {
  const RunValue sequence = sequence_of({1, 2, 3});
  EXPECT_EQ(sequence.dtype, DType::f32);
  EXPECT_THAT(firsts_of(sequence), ElementsAre(1, 2, 3));
  EXPECT_THAT(run_elements<int64_t>(run_sequence_op(sequence_node("SequenceLength"), {sequence})),
              ElementsAre(3));
  const graph::Node read = sequence_node("SequenceAt");
  EXPECT_THAT(run_elements<float>(run_sequence_op(read, {sequence, at(0)})), ElementsAre(1));
  EXPECT_THAT(run_elements<float>(run_sequence_op(read, {sequence, at(-1)})), ElementsAre(3));
  RunValue out;
  const Status status = run_sequence_op(read, {sequence, at(3)}, out);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("position 3 of 3 elements"));
  EXPECT_THAT(firsts_of(run_sequence_op(sequence_node("SequenceEmpty"), {})), ElementsAre());
}

TEST(SequenceStep, InsertingAndErasingLeavesTheOldSequenceAsItWas) {
  const RunValue sequence = sequence_of({1, 2});
  const graph::Node insert = sequence_node("SequenceInsert"),
                    erase = sequence_node("SequenceErase");
  EXPECT_THAT(firsts_of(run_sequence_op(insert, {sequence, one(9)})), ElementsAre(1, 2, 9));
  EXPECT_THAT(firsts_of(run_sequence_op(insert, {sequence, one(9), at(0)})), ElementsAre(9, 1, 2));
  EXPECT_THAT(firsts_of(run_sequence_op(insert, {sequence, one(9), at(-1)})), ElementsAre(1, 9, 2));
  EXPECT_THAT(firsts_of(run_sequence_op(insert, {sequence, one(9), at(2)})), ElementsAre(1, 2, 9));
  EXPECT_THAT(firsts_of(run_sequence_op(erase, {sequence})), ElementsAre(1));
  EXPECT_THAT(firsts_of(run_sequence_op(erase, {sequence, at(-2)})), ElementsAre(2));
  EXPECT_THAT(firsts_of(sequence), ElementsAre(1, 2));
  RunValue out;
  EXPECT_FALSE(run_sequence_op(insert, {sequence, one(9), at(4)}, out).ok());
  EXPECT_FALSE(run_sequence_op(insert, {sequence}, out).ok());
}

TEST(SequenceStep, ATensorIsSplitIntoPiecesOfOneSizeOrOfMany) {
  const RunValue tensor = run_tensor<float>({5}, {1, 2, 3, 4, 5});
  const graph::Node split = sequence_node("SplitToSequence");
  RunValue pieces = run_sequence_op(split, {tensor, run_tensor<int64_t>({}, {2})});
  EXPECT_THAT(firsts_of(pieces), ElementsAre(1, 3, 5));
  EXPECT_EQ((*pieces.items)[2].shape, (Shape{1}));
  pieces = run_sequence_op(split, {tensor, run_tensor<int64_t>({2}, {4, 1})});
  EXPECT_THAT(firsts_of(pieces), ElementsAre(1, 5));
  pieces = run_sequence_op(sequence_node("SplitToSequence", {{"keepdims", int64_t{0}}}), {tensor});
  ASSERT_EQ(pieces.items->size(), 5u);
  EXPECT_EQ((*pieces.items)[0].shape, Shape{});
  RunValue out;
  EXPECT_FALSE(run_sequence_op(split, {tensor, run_tensor<int64_t>({}, {0})}, out).ok());
  EXPECT_FALSE(run_sequence_op(split, {tensor, run_tensor<int64_t>({1}, {6})}, out).ok());
  EXPECT_FALSE(
      run_sequence_op(sequence_node("SplitToSequence", {{"axis", int64_t{1}}}), {tensor}, out)
          .ok());
}

TEST(SequenceStep, TensorsAreJoinedAlongAnAxisOrANewOne) {
  const RunValue sequence = sequence_of({1, 2});
  const RunValue joined =
      run_sequence_op(sequence_node("ConcatFromSequence", {{"axis", int64_t{0}}}), {sequence});
  EXPECT_EQ(joined.shape, (Shape{2}));
  const RunValue stacked = run_sequence_op(
      sequence_node("ConcatFromSequence", {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}}),
      {sequence});
  EXPECT_EQ(stacked.shape, (Shape{2, 1}));
  EXPECT_THAT(run_elements<float>(stacked), ElementsAre(1, 2));
}

TEST(SequenceStep, AnOptionalHasSomethingOrNothing) {
  const RunValue full = run_sequence_op(sequence_node("Optional"), {one(3)});
  const RunValue none = run_sequence_op(sequence_node("Optional"), {});
  const graph::Node asks = sequence_node("OptionalHasElement");
  EXPECT_THAT(run_elements<bool>(run_sequence_op(asks, {full})), ElementsAre(true));
  EXPECT_THAT(run_elements<bool>(run_sequence_op(asks, {none})), ElementsAre(false));
  const graph::Node get = sequence_node("OptionalGetElement");
  EXPECT_THAT(run_elements<float>(run_sequence_op(get, {full})), ElementsAre(3));
  RunValue out;
  const Status status = run_sequence_op(get, {none}, out);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("the optional is empty"));
}

TEST(SequenceStep, ATensorIsNoSequence) {
  for (const char* op :
       {"SequenceAt", "SequenceInsert", "SequenceErase", "SequenceLength", "ConcatFromSequence"}) {
    RunValue out;
    const Status status = run_sequence_op(sequence_node(op), {one(1), at(0)}, out);
    EXPECT_EQ(status.code(), Code::unsupported_dtype) << op;
    EXPECT_THAT(status.message(), HasSubstr(op));
  }
}

}  // namespace
}  // namespace anynpu::exec
