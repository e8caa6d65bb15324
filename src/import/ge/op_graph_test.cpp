// SPDX-License-Identifier: Apache-2.0
#include "import/ge/op_graph.h"

#include <gmock/gmock.h>

namespace anynpu::ge {
namespace {

using testing::HasSubstr;

singleop::SingleOp one(const char* type, size_t outputs = 1) {
  singleop::SingleOp op;
  op.type = type;
  op.outputs.resize(outputs);
  for (TensorDesc& desc : op.outputs) {
    desc.shape = {kUnknownRank};
    desc.format = Format::nd;
  }
  return op;
}

graph::Constant floats(const std::vector<float>& values) {
  auto owner = std::make_shared<const std::vector<float>>(values);
  return {owner, std::as_bytes(std::span(*owner))};
}

TEST(OpGraphTest, shapes_are_inferred_from_operator_to_operator) {
  OpGraph graph("g");
  const ValueId x = graph.add_input("x", DType::f32, {2, 3});
  const auto squared = graph.add("square", one("Square"), {x});
  ASSERT_TRUE(squared.ok()) << squared.status().to_string();
  const auto flat = graph.add("flat", one("Flatten"), {(*squared)[0]});
  ASSERT_TRUE(flat.ok());
  EXPECT_EQ(graph.value((*flat)[0]).shape, (Shape{2, 3}));
  const auto made = graph.finish(*flat, {"y"});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->nodes[0].name, "square");
  EXPECT_EQ(made->values[static_cast<size_t>(made->outputs[0])].name, "y");
}

TEST(OpGraphTest, what_is_constant_is_computed_at_once) {
  OpGraph graph("g");
  const auto c = graph.add_constant("c", DType::f32, {2}, floats({3, 4}));
  ASSERT_TRUE(c.ok());
  const auto squared = graph.add("square", one("Square"), {*c});
  ASSERT_TRUE(squared.ok());
  EXPECT_TRUE(graph.value((*squared)[0]).constant);
  const auto made = graph.finish(*squared, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->nodes.size(), 1u);  // an output is a value of its own
}

TEST(OpGraphTest, operators_that_are_not_there_come_in_one_message) {
  OpGraph graph("g");
  const ValueId x = graph.add_input("x", DType::f32, {2});
  const auto a = graph.add("a", one("Sqare"), {x});
  ASSERT_TRUE(a.ok());
  EXPECT_TRUE(graph.any_unknown(*a));
  ASSERT_TRUE(graph.add("b", one("Square"), *a).ok());
  graph.refuse("c", "Data", "a reason");
  const std::string said = graph.finish(*a, {}).status().to_string();
  EXPECT_THAT(said, HasSubstr("Sqare 'a' (the nearest name that is known is Square)"));
  EXPECT_THAT(said, HasSubstr("Data 'c' (a reason)"));
}

TEST(OpGraphTest, a_constant_has_as_many_bytes_as_its_description_says) {
  OpGraph graph("g");
  EXPECT_EQ(graph.add_constant("c", DType::f32, {3}, floats({1, 2})).status().code(),
            Code::corrupt_model);
  EXPECT_FALSE(graph.add_constant("c", DType::f32, {int64_t{1} << 62, 8}, floats({})).ok());
}

TEST(OpGraphTest, whole_numbers_of_constants) {
  OpGraph graph("g");
  auto owner = std::make_shared<const std::vector<int32_t>>(std::vector<int32_t>{5, -6});
  const auto c =
      graph.add_constant("c", DType::i32, {2}, {owner, std::as_bytes(std::span(*owner))});
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(*graph.whole_numbers(*c), (std::vector<int64_t>{5, -6}));
  EXPECT_FALSE(graph.whole_numbers(graph.add_input("x", DType::i64, {1})).ok());
}

}  // namespace
}  // namespace anynpu::ge
