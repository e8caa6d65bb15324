// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/node_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NodeProto read_back(const WireWriter& writer, std::string& text) {
  auto read = read_node(field_of(writer, text));
  EXPECT_TRUE(read.ok()) << read.status().to_string();
  return *read;
}

TEST(NodeProto, HasItsNamesOperandsAndDomain) {
  std::string text;
  const NodeProto read = read_back(node("Add", "sum", {"a", "b"}, {"c"}, "ai.onnx"), text);
  EXPECT_EQ(read.op, "Add");
  EXPECT_EQ(read.name, "sum");
  EXPECT_EQ(read.domain, "") << "ai.onnx is the default domain";
  EXPECT_THAT(read.inputs, ElementsAre("a", "b"));
  EXPECT_THAT(read.outputs, ElementsAre("c"));
}

Result<NamedAttr> attribute(const WireWriter& writer) {
  std::string text;
  const WireField field = field_of(writer, text);
  Source source{std::make_shared<const std::string>(text), {}, {}};
  return read_attribute(field, source);
}

TEST(NodeProto, AttributesAreReadByTheirKind) {
  WireWriter number;
  number.text(1, "axis");
  number.integer(3, -1);
  number.integer(20, 2);
  const auto read = attribute(number);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->name, "axis");
  EXPECT_EQ(std::get<int64_t>(read->value), -1);
  WireWriter list;
  list.text(1, "pads");
  list.packed(8, std::vector<int64_t>{1, 2});
  list.integer(20, 7);
  EXPECT_THAT(std::get<std::vector<int64_t>>(attribute(list)->value), ElementsAre(1, 2));
}

TEST(NodeProto, AnAttributeOfAnUnknownKindIsNamed) {
  WireWriter odd;
  odd.text(1, "odd");
  odd.integer(3, 1);
  odd.integer(20, 77);
  EXPECT_THAT(attribute(odd).status().message(), HasSubstr("'odd'"));
}

TEST(NodeProto, AnAttributeOfNothingIsLeftOut) {
  WireWriter empty;
  empty.text(1, "nothing");
  const auto read = attribute(empty);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_TRUE(read->empty);
}

TEST(NodeProto, AValueHasTypeAndShape) {
  std::string text;
  const auto value = read_value_info(field_of(value_info("x", {"N", "3"}), text));
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ(value->name, "x");
  EXPECT_EQ(value->dtype, DType::f32);
  EXPECT_EQ(value->shape, (Shape{-1, 3}));
}

}  // namespace
}  // namespace anynpu::onnx
