// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/mindir_graph.h"

#include <gmock/gmock.h>

#include "import/mindspore/model_for_test.h"

namespace anynpu::mindspore {
namespace {

using testing::HasSubstr;

TEST(MindirGraphTest, only_what_the_output_needs_is_read) {
  MindirText net({2, 3});
  net.node("NoSuchPrimitive", {"net:x"});
  const auto relu = net.node("ReLU", {"net:x"});
  const auto state = net.constant("monad", whole_value(0, 23));
  net.node("Depend", {relu, state});
  const auto graph = import_text(net.text());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(graph->nodes[0].name, "Default/ReLU2");
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->inputs[0])].name, "x");
}

TEST(MindirGraphTest, parts_of_tuples_are_taken_apart_and_put_together) {
  MindirText net({2, 4});
  const auto parts = net.node(
      "Split",
      {"net:x", net.constant("axis", whole_value(1)), net.constant("count", whole_value(2))}, {},
      {1, 1});
  const auto second = net.node("TupleGetItem", {parts, net.constant("one", whole_value(1))});
  net.node("MakeTuple", {second, "net:x"});
  const auto graph = import_text(net.text());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->outputs.size(), 2u);
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].shape, (Shape{2, 2}));
}

TEST(MindirGraphTest, primitives_that_are_not_there_come_in_one_message) {
  MindirText net({2});
  const auto a = net.node("ReLUU", {"net:x"});
  net.node("Nonsense", {a});
  const std::string said = failure_of(net.text());
  EXPECT_THAT(said, HasSubstr("2 operators"));
  EXPECT_THAT(said, HasSubstr("ReLUU 'Default/ReLUU1' (the nearest primitive that is known is "));
  EXPECT_THAT(said, HasSubstr("Nonsense 'Default/Nonsense2'"));
}

TEST(MindirGraphTest, given_shapes_replace_those_of_the_file) {
  MindirText net({-1, 3});
  net.node("ReLU", {"net:x"});
  const auto graph = import_text(net.text(), {{"x", {5, 3}}});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].shape, (Shape{5, 3}));
}

TEST(MindirGraphTest, an_input_without_a_shape_gets_the_option_to_type) {
  MindirText net({-2});
  net.node("ReLU", {"net:x"});
  EXPECT_THAT(failure_of(net.text()), HasSubstr("--input_shape=\"x:1,3,224,224\""));
  EXPECT_TRUE(import_text(net.text(), {{"x", {5, 3}}}).ok());
}

TEST(MindirGraphTest, a_name_from_nowhere_is_refused) {
  MindirText net({2});
  net.node("ReLU", {"net:y"});
  EXPECT_THAT(failure_of(net.text()), HasSubstr("'net:y' is read before anything makes it"));
  EXPECT_THAT(failure_of(net.text("net:z")), HasSubstr("'net:z' is read"));
}

TEST(MindirGraphTest, a_constant_of_another_size_is_refused) {
  MindirText net({3});
  net.node("Add", {"net:x", net.parameter("net:w", {4}, {1, 2, 3})});
  EXPECT_THAT(failure_of(net.text()), HasSubstr("has 12 bytes, its description says"));
}

}  // namespace
}  // namespace anynpu::mindspore
