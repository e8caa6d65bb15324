// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/flow_forms.h"

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

// while (i < 3) i += 1, as TensorFlow 1 writes it.
TestGraph old_loop() {
  TestGraph graph;
  const std::vector<TestAttr> frame = {text_of("frame_name", "loop")};
  graph.input("x", {}, 3).ints("three", {}, {3}).ints("one", {}, {1});
  graph.node("enter", "Enter", {"x"}, frame).node("merge", "Merge", {"enter", "next"});
  graph.node("less", "Less", {"merge", "three"}).node("go", "LoopCond", {"less"});
  graph.node("switch", "Switch", {"merge", "go"}).node("inside", "Identity", {"switch:1"});
  graph.node("sum", "AddV2", {"inside", "one"}).node("next", "NextIteration", {"sum"});
  graph.node("y", "Exit", {"switch"});
  return graph;
}

TEST(TfFlowForms, ALoopOfTheOldKindIsALoop) {
  EXPECT_EQ(old_loop().ops({{}, {"y:0"}}), "Less Loop");
}

TEST(TfFlowForms, ABranchOfTheOldKindIsAnIf) {
  TestGraph graph;
  graph.input("x", {2}).input("c", {}, 10);
  graph.node("switch", "Switch", {"x", "c"});
  graph.node("no", "Neg", {"switch:0"}).node("yes", "Relu", {"switch:1"});
  graph.node("y", "Merge", {"no", "yes"});
  EXPECT_EQ(graph.ops(), "If");
  EXPECT_EQ(graph.shape(), "2");
}

TEST(TfFlowForms, AConstantBranchIsFoundByTheOrderOfNodes) {
  TestGraph graph;
  const float one[] = {1, 1};
  graph.input("x", {2}).input("c", {}, 10);
  graph.node("switch", "Switch", {"x", "c"}).node("yes", "Relu", {"switch:1"});
  graph.node("pivot", "Switch", {"c", "c"}).node("switch_f", "Identity", {"pivot:0"});
  graph.node("no", "Const", {"^switch_f"},
             {type_of("dtype", 1), tensor_of(1, {2}, std::as_bytes(std::span(one)))});
  graph.node("y", "Merge", {"no", "yes"});
  EXPECT_EQ(graph.ops(), "If");
}

// tf.switch_case of three ways, as TensorFlow 2 freezes it; the branch in the middle is a constant.
TEST(TfFlowForms, BranchesByNumberAreIfs) {
  TestGraph graph;
  const float one[] = {1, 1};
  graph.input("x", {2}).input("n", {}, 3);
  graph.node("switch", "_SwitchN", {"x", "n"}, {int_of("num_outs", 3)});
  graph.node("index", "_SwitchN", {"n", "n"}, {int_of("num_outs", 3)});
  graph.node("pivot", "Identity", {"index:1"});
  graph.node("first", "Neg", {"switch"}).node("last", "Relu", {"switch:2"});
  graph.node("middle", "Const", {"^pivot"},
             {type_of("dtype", 1), tensor_of(1, {2}, std::as_bytes(std::span(one)))});
  graph.node("y", "Merge", {"first", "middle", "last"});
  EXPECT_EQ(graph.ops(), "Less Greater Or Where Less If");
  EXPECT_EQ(graph.shape(), "2");
}

TEST(TfFlowForms, ABranchThatTwoWaysShareIsRefused) {
  TestGraph graph;
  graph.input("x", {2}).input("n", {}, 3);
  graph.node("switch", "_SwitchN", {"x", "n"}, {int_of("num_outs", 2)});
  graph.node("a", "Neg", {"switch:1"}).node("b", "Relu", {"switch:1"});
  graph.node("y", "Merge", {"a", "b"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("node 'y' (Merge)"), std::string::npos) << said;
}

TEST(TfFlowForms, OtherControlFlowIsRefusedByName) {
  TestGraph graph;
  graph.input("x", {2}).node("a", "Relu", {"x"}).node("y", "Merge", {"a", "x"});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("node 'y' (Merge)"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
