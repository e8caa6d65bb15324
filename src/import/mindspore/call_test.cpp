// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/call.h"

#include <gtest/gtest.h>

#include <cstring>

namespace anynpu::mindspore {
namespace {

Attribute whole(int64_t value) {
  Attribute attribute;
  attribute.type = static_cast<int64_t>(AttrType::i64);
  attribute.integer = value;
  return attribute;
}

TEST(CallTest, constants_of_the_file_become_attributes) {
  EXPECT_EQ(std::get<int64_t>(to_item(whole(5)).constant), 5);
  Attribute list;
  list.type = static_cast<int64_t>(AttrType::tuple);
  list.values = {whole(1), whole(2)};
  EXPECT_EQ(std::get<std::vector<int64_t>>(to_item(list).constant), (std::vector<int64_t>{1, 2}));
  list.values.push_back(Attribute{});
  EXPECT_EQ(to_item(list).kind, Item::Kind::tuple);
  Attribute none;
  none.type = static_cast<int64_t>(AttrType::none);
  EXPECT_TRUE(to_item(none).is_nothing());
}

TEST(CallTest, a_whole_number_keeps_all_its_digits) {
  OpGraph graph("g");
  Call call(graph, "n", "FillScalar", 1, {true});
  for (const int64_t number : {INT64_MAX, INT64_MIN, (int64_t{1} << 53) + 1, int64_t{16777217}}) {
    const auto id = call.number(Item::of(singleop::Attr(number)), DType::i64, "the value");
    ASSERT_TRUE(id.ok());
    int64_t kept = 0;
    ASSERT_EQ(graph.value(*id).constant->bytes.size(), sizeof kept);
    std::memcpy(&kept, graph.value(*id).constant->bytes.data(), sizeof kept);
    EXPECT_EQ(kept, number);
  }
  const auto real = call.number(Item::of(singleop::Attr(0.5f)), DType::f16, "the value");
  ASSERT_TRUE(real.ok());
  EXPECT_EQ(graph.value(*real).dtype, DType::f16);
}

TEST(CallTest, a_constant_stands_for_a_tensor_of_the_type_asked_for) {
  OpGraph graph("g");
  Call call(graph, "n", "Mul", 1, {true});
  const auto id = call.tensor(Item::of(singleop::Attr(2.0f)), DType::f16);
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(graph.value(*id).dtype, DType::f16);
  EXPECT_EQ(graph.value(*id).constant->bytes.size(), 2u);
  const auto list = call.tensor(Item::of(singleop::Attr(std::vector<int64_t>{3, 4})));
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(graph.value(*list).shape, (Shape{2}));
  EXPECT_FALSE(call.tensor(Item::of(singleop::Attr(std::string("a")))).ok());
}

TEST(CallTest, what_must_be_known_says_so) {
  OpGraph graph("g");
  Call call(graph, "n", "Reshape", 1, {true});
  const Item input = Item::of(graph.add_input("x", DType::i64, {2}));
  EXPECT_FALSE(call.integers(input, "shape").ok());
  EXPECT_FALSE(call.flag(input, "keep").ok());
  EXPECT_EQ(*call.dtype(Item::of(singleop::Attr(int64_t{43})), "dtype"), DType::f32);
  EXPECT_FALSE(call.dtype(Item::of(singleop::Attr(int64_t{999})), "dtype").ok());
  EXPECT_EQ(*call.word(Item::of(singleop::Attr(int64_t{1})), "format", {"NCHW", "NHWC"}), "NHWC");
}

}  // namespace
}  // namespace anynpu::mindspore
