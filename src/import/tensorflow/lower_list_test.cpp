// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfList, IsATensorWithItsElementsInFront) {
  TestGraph graph;
  graph.input("x", {3}).ints("shape", {1}, {3}).ints("n", {}, {4}).ints("i", {}, {2});
  graph.node("list", "TensorListReserve", {"shape", "n"}, {type_of("element_dtype", 1)});
  graph.node("set", "TensorListSetItem", {"list", "i", "x"}, {type_of("element_dtype", 1)});
  graph.node("y", "TensorListStack", {"set", "shape"}, {type_of("element_dtype", 1)});
  EXPECT_EQ(graph.shape(), "4x3");
}

TEST(TfList, LearnsTheShapeOfItsElements) {
  TestGraph graph;
  graph.input("x", {3, 5}).ints("any", {}, {-1}).ints("n", {}, {4}).ints("i", {}, {2});
  graph.node("list", "TensorListReserve", {"any", "n"}, {type_of("element_dtype", 1)});
  graph.node("set", "TensorListSetItem", {"list", "i", "x"}, {type_of("element_dtype", 1)});
  graph.node("y", "TensorListGetItem", {"set", "i", "any"}, {type_of("element_dtype", 1)});
  EXPECT_EQ(graph.shape(), "3x5");
}

TEST(TfList, OfTensorFlow1IsTheFlowOfAnArray) {
  TestGraph graph;
  graph.input("x", {3}).ints("n", {}, {4}).ints("i", {}, {2}).ints("all", {4}, {0, 1, 2, 3});
  graph.node("array", "TensorArrayV3", {"n"}, {type_of("dtype", 1)});
  graph.node("write", "TensorArrayWriteV3", {"array", "i", "x", "array:1"}, {type_of("T", 1)});
  graph.node("y", "TensorArrayGatherV3", {"array", "all", "write"}, {type_of("dtype", 1)});
  EXPECT_EQ(graph.shape(), "4x3");
}

TEST(TfList, CannotBeReturned) {
  TestGraph graph;
  graph.ints("shape", {1}, {3}).ints("n", {}, {4});
  graph.node("y", "TensorListReserve", {"shape", "n"}, {type_of("element_dtype", 1)});
  const std::string said = graph.shape();
  EXPECT_NE(said.find("is a list of tensors"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
