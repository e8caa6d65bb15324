// SPDX-License-Identifier: Apache-2.0
#include "import/ge/ge.h"

#include <gmock/gmock.h>

#include "import/ge/model_for_test.h"

namespace anynpu::ge {
namespace {

using testing::HasSubstr;

Result<graph::Graph> import_text(const std::string& text, const InputShapes& shapes = {}) {
  auto owner = std::make_shared<const std::string>(text);
  return import_air(bytes_of_text(*owner), owner, shapes);
}

TEST(ImportAir, operators_become_nodes_in_the_order_of_their_edges) {
  const auto graph = import_text(model_text(
      {graph_message("g", {output_op({"sum:0", "relu:-1"}),
                           {"Add", "sum", {"relu:0", "w:0"}, {}, {}, {tensor_desc({2, 3})}},
                           {"Relu", "relu", {"x:0"}, {}, {}, {tensor_desc({2, 3})}},
                           const_op("w", {3}, {1, 2, 3}),
                           data_op("x", {2, 3})})}));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(graph->nodes[0].name, "relu");
  EXPECT_EQ(graph->nodes[1].op, "Add");
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].shape, (Shape{2, 3}));
}

TEST(ImportAir, inputs_come_in_the_order_of_their_index_and_take_given_shapes) {
  const auto graph =
      import_text(model_text({graph_message("g", {data_op("b", {2}, 1),
                                                  data_op("a", {2}, 0),
                                                  {"Add", "sum", {"a:0", "b:0"}, {}, {}, {}},
                                                  output_op({"sum:0"})})}),
                  {{"a", {4, 2}}});
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->inputs[0])].name, "a");
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->inputs[0])].shape, (Shape{4, 2}));
}

TEST(ImportAir, unknown_operators_are_all_named_with_the_nearest_name) {
  const std::string said =
      air_failure(model_text({graph_message("g", {data_op("x", {2}),
                                                  {"Reluu", "a", {"x:0"}, {}, {}, {}},
                                                  {"Nonsense", "b", {"a:0"}, {}, {}, {}},
                                                  output_op({"b:0"})})}));
  EXPECT_THAT(said, HasSubstr("2 operators"));
  EXPECT_THAT(said, HasSubstr("Reluu 'a' (the nearest name that is known is Relu)"));
  EXPECT_THAT(said, HasSubstr("Nonsense 'b'"));
}

TEST(ImportAir, a_cycle_is_refused) {
  EXPECT_THAT(air_failure(model_text({graph_message("g", {{"Add", "a", {"b:0", "b:0"}, {}, {}, {}},
                                                          {"Relu", "b", {"a:0"}, {}, {}, {}},
                                                          output_op({"a:0"})})})),
              HasSubstr("a cycle that is no loop"));
}

TEST(ImportAir, an_edge_from_nowhere_is_refused) {
  EXPECT_THAT(air_failure(model_text({graph_message("g", {output_op({"a:0"})})})),
              HasSubstr("reads 'a:0', which is not there"));
  EXPECT_THAT(air_failure(model_text({graph_message("g", {data_op("x", {2})})})),
              HasSubstr("0 operators of type NetOutput"));
}

TEST(ImportAir, a_graph_that_an_operator_calls_is_written_in_its_place) {
  const auto graph = import_text(
      model_text({graph_message("g", {data_op("x", {2}),
                                      {"PartitionedCall", "call", {"x:0"}, {}, {}, {}, {"inner"}},
                                      output_op({"call:0"})}),
                  graph_message("inner", {data_op("arg", {2}),
                                          {"Relu", "relu", {"arg:0"}, {}, {}, {}},
                                          output_op({"relu:0"})})}));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(graph->nodes[0].name, "call/relu");
}

TEST(ImportAir, what_the_chip_fused_is_refused_by_its_parts) {
  WireWriter list, attr;
  for (const char* part : {"conv", "relu"}) list.text(2, part);
  list.integer(20, 1);
  attr.message(1, list);
  EXPECT_THAT(
      air_failure(model_text({graph_message(
          "g", {data_op("x", {2}),
                {"Relu", "f", {"x:0"}, {entry("_datadump_original_op_names", attr)}, {}, {}},
                output_op({"f:0"})})})),
      HasSubstr("fused for the chip from conv, relu"));
}

TEST(ParseEdge, the_index_is_behind_the_last_colon) {
  EXPECT_EQ(parse_edge("a:b:3").op, "a:b");
  EXPECT_EQ(parse_edge("a:b:3").index, 3);
  EXPECT_EQ(parse_edge("a:-1").index, -1);
  EXPECT_EQ(parse_edge("a").index, 0);
  EXPECT_EQ(parse_edge("a:b").op, "a:b");
}

}  // namespace
}  // namespace anynpu::ge
