// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfRagged, ChosenRowsHaveTheirSplitsAndValues) {
  TestGraph graph;
  graph.input("splits", {4}, 9).input("values", {5, 2}).input("rows", {2}, 3);
  graph.node("y", "RaggedGather", {"splits", "values", "rows"},
             {int_of("PARAMS_RAGGED_RANK", 1), int_of("OUTPUT_RAGGED_RANK", 1)});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "3");
  EXPECT_EQ(graph.shape({{}, {"y:1"}}), "?x2");
}

TEST(TfRagged, BecomesSparseWithAnAxisForEachLevel) {
  TestGraph graph;
  graph.input("splits", {4}, 9).input("values", {5});
  graph.node("y", "RaggedTensorToSparse", {"splits", "values"});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "?x2");
  EXPECT_EQ(graph.shape({{}, {"y:1"}}), "5");
  EXPECT_EQ(graph.shape({{}, {"y:2"}}), "2");
}

TEST(TfRagged, IsFilledUpToAShape) {
  TestGraph graph;
  graph.input("splits", {4}, 9).input("values", {5}).ints("shape", {2}, {3, 4}).floats("fill", {});
  graph.node("y", "RaggedTensorToTensor", {"shape", "values", "fill", "splits"},
             {texts_of("row_partition_types", {"ROW_SPLITS"})});
  EXPECT_EQ(graph.shape(), "3x4");
}

TEST(TfRagged, RowsAreAListOfTheirOwnLengths) {
  const std::vector<TestAttr> variant = {type_of("element_dtype", 21)};
  TestGraph graph;
  graph.input("splits", {4}, 9).input("values", {5, 2}).ints("any", {}, {-1}).ints("one", {}, {1});
  graph.node("rows", "RaggedTensorToVariant", {"splits", "values"},
             {int_of("RAGGED_RANK", 1), flag_of("batched_input", true)});
  graph.node("list", "TensorListFromTensor", {"rows", "any"}, variant);
  graph.node("item", "TensorListGetItem", {"list", "one", "any"}, variant);
  graph.node("y", "RaggedTensorFromVariant", {"item"}, {int_of("output_ragged_rank", 0)});
  EXPECT_EQ(graph.shape({{}, {"y:0"}}), "?x2");
  graph.node("all", "TensorListStack", {"list", "any"}, variant);
  graph.node("z", "RaggedTensorFromVariant", {"all"}, {int_of("output_ragged_rank", 1)});
  EXPECT_EQ(graph.shape({{}, {"z:0"}}), "4");
  EXPECT_EQ(graph.shape({{}, {"z:1"}}), "5x2");
}

TEST(TfRagged, RowsThatAreRaggedThemselvesAreRefused) {
  TestGraph graph;
  graph.input("a", {4}, 9).input("b", {6}, 9).input("values", {5});
  graph.node("y", "RaggedTensorToVariant", {"a", "b", "values"},
             {int_of("RAGGED_RANK", 2), flag_of("batched_input", true)});
  EXPECT_NE(graph.shape().find("RAGGED_RANK 2"), std::string::npos) << graph.shape();
}

TEST(TfRagged, PartitionsOfAnotherKindAreRefused) {
  TestGraph graph;
  graph.input("splits", {4}, 9).input("values", {5}).ints("shape", {2}, {3, 4}).floats("fill", {});
  graph.node("y", "RaggedTensorToTensor", {"shape", "values", "fill", "splits"},
             {texts_of("row_partition_types", {"ROW_LIMITS"})});
  EXPECT_NE(graph.shape().find("'ROW_LIMITS' at 0"), std::string::npos) << graph.shape();
}

TEST(TfRagged, OutputsOfAFunctionAreCountedThroughTheListsBefore) {
  TestGraph graph;
  graph.input("outer", {3}, 9).input("inner", {4}, 9).input("values", {5}).input("rows", {2}, 3);
  const auto gather =
      node_message("g", "RaggedGather", {"o", "i", "v", "r"},
                   {int_of("PARAMS_RAGGED_RANK", 2), int_of("OUTPUT_RAGGED_RANK", 2)});
  graph.function("f", {{"o", 9}, {"i", 9}, {"v", 1}, {"r", 3}}, {gather},
                 {"g:output_dense_values:0", "g:output_nested_splits:1"});
  graph.node("y", "PartitionedCall", {"outer", "inner", "values", "rows"}, {function_of("f", "f")});
  const auto made = graph.import({{}, {"y:0", "y:1"}});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->values[static_cast<size_t>(made->outputs[0])].dtype, DType::f32);
  EXPECT_EQ(made->values[static_cast<size_t>(made->outputs[1])].dtype, DType::i64);
}

}  // namespace
}  // namespace anynpu::tensorflow
