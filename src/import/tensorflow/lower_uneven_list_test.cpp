// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

// x of 5 rows, cut into elements of 2 and 3.
TestGraph cut() {
  TestGraph graph;
  graph.input("x", {5, 4}).ints("any", {2}, {-1, 4}).ints("n", {2}, {2, 3});
  graph.ints("zero", {}, {0}).ints("one", {}, {1});
  graph.node("list", "TensorListSplit", {"x", "any", "n"}, {type_of("element_dtype", 1)});
  return graph;
}
const std::vector<TestAttr> kFloat = {type_of("element_dtype", 1)};

TEST(TfUnevenList, ReadsElementsOfTheirOwnLength) {
  EXPECT_EQ(cut().node("y", "TensorListGetItem", {"list", "zero", "any"}, kFloat).shape(), "2x4");
  EXPECT_EQ(cut().node("y", "TensorListGetItem", {"list", "one", "any"}, kFloat).shape(), "3x4");
}

TEST(TfUnevenList, JoinsAllRows) {
  TestGraph graph = cut();
  graph.node("y", "TensorListConcatV2", {"list", "any", "n"}, kFloat);
  EXPECT_EQ(graph.shape(), "5x4");
}

TEST(TfUnevenList, KeepsTheOtherElementsWhenOneIsSet) {
  TestGraph graph = cut();
  graph.input("new", {7, 4});
  graph.node("set", "TensorListSetItem", {"list", "zero", "new"}, kFloat);
  graph.node("push", "TensorListPushBack", {"set", "x"}, kFloat);
  graph.node("y", "TensorListConcatV2", {"push", "any", "n"}, kFloat);
  EXPECT_EQ(graph.shape(), "15x4");
}

TEST(TfUnevenList, IsMadeWhenAnElementOfAnotherLengthIsSet) {
  TestGraph graph;
  graph.input("a", {2, 4}).input("b", {3, 4}).ints("two", {}, {2});
  graph.ints("zero", {}, {0}).ints("one", {}, {1});
  graph.node("array", "TensorArrayV3", {"two"}, {type_of("dtype", 1)});
  graph.node("first", "TensorArrayWriteV3", {"array", "zero", "a", "array:1"}, {type_of("T", 1)});
  graph.node("second", "TensorArrayWriteV3", {"array", "one", "b", "first"}, {type_of("T", 1)});
  graph.node("y", "TensorArrayConcatV3", {"array", "second"}, {type_of("dtype", 1)});
  EXPECT_EQ(graph.shape(), "5x4");
}

TEST(TfUnevenList, LengthsMayComeFromTheRun) {
  TestGraph graph;
  graph.input("x", {5, 4}).ints("any", {2}, {-1, 4}).input("n", {2}, 9).ints("one", {}, {1});
  graph.node("list", "TensorListSplit", {"x", "any", "n"}, kFloat);
  graph.node("y", "TensorListGetItem", {"list", "one", "any"}, kFloat);
  EXPECT_EQ(graph.shape(), "?x4");
}

TEST(TfUnevenList, IsStackedWhenTheRunTellsTheLengths) {
  TestGraph graph;
  graph.input("x", {6, 4}).ints("any", {2}, {-1, 4}).input("n", {2}, 9);
  graph.node("list", "TensorListSplit", {"x", "any", "n"}, kFloat);
  graph.node("y", "TensorListStack", {"list", "any"}, kFloat);
  EXPECT_EQ(graph.shape(), "2x?x4");
}

TEST(TfUnevenList, CannotBeStacked) {
  const std::string said = cut().node("y", "TensorListStack", {"list", "any"}, kFloat).shape();
  EXPECT_NE(said.find("different lengths"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
