// SPDX-License-Identifier: Apache-2.0
#include "ops/traits.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ops/op_case.h"
#include "ops/registry.h"

namespace anynpu::ops {
namespace {

TEST(Traits, EverySchemaDecidesAllOfThem) {
  for (const OpSchema& schema : Registry::instance().schemas()) {
    EXPECT_TRUE(schema.traits.decided())
        << schema.name << " since opset " << schema.since
        << ": state .traits in its schema; ops/traits.h has the families to start from";
  }
}

TEST(Traits, AFieldThatIsLeftOutIsUndecided) {
  EXPECT_FALSE(OpTraits{}.decided());
  EXPECT_TRUE(OpTraits::general().decided());
  EXPECT_FALSE(OpTraits::general().with(CostClass::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(PrecisionClass::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(TransposeRule::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(SizedBy::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(Purity::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(Rounding::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(StatedShape::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(Strings::undecided).decided());
  EXPECT_FALSE(OpTraits::general().with(BlockedInput::undecided).decided());
}

TEST(Traits, AllVersionsOfAnOperatorAgree) {
  std::map<std::string, const OpSchema*> first;
  for (const OpSchema& schema : Registry::instance().schemas()) {
    const std::string name = std::string(schema.domain) + "::" + std::string(schema.name);
    const auto [known, is_new] = first.emplace(name, &schema);
    EXPECT_TRUE(is_new || known->second->traits == schema.traits)
        << name << ": opset " << schema.since << " differs from " << known->second->since;
  }
}

TEST(Traits, AnOperatorWithoutSchemaAllowsNoRewrite) {
  graph::Node node;
  node.op = "NoSuchOperator";
  EXPECT_EQ(traits_of(node), OpTraits::general());
  EXPECT_EQ(traits_of("NoSuchOperator"), OpTraits::general());
}

TEST(Traits, ANodeHasTheTraitsOfItsSchema) {
  graph::Node node;
  node.op = "FusedConv";
  node.domain = "anynpu";
  EXPECT_EQ(traits_of(node).precision, PrecisionClass::white);
  node.op = "Concat";
  node.domain = "";
  node.opset = 13;
  EXPECT_EQ(traits_of(node).transposes, TransposeRule::axis);
}

// Whether the shape rule knows every output without looking at any value.
bool known_without_values(const std::string& text) {
  auto op_case = OpCase::parse(text);
  EXPECT_TRUE(op_case.ok()) << text;
  if (!op_case.ok()) return false;
  auto context = op_case->context();
  EXPECT_TRUE(context.ok()) << text << ": " << context.status().to_string();
  if (!context.ok()) return false;
  for (Operand& input : context->inputs) {
    input.is_constant = false;
    input.constant = {};
  }
  context->inputs.resize(op_case->node().inputs.size());
  const auto blind = infer(op_case->node(), context->inputs);
  if (!blind.ok()) return false;
  for (const Operand& output : blind->outputs) {
    if (!output.fully_known()) return false;
  }
  return true;
}

TEST(Traits, ShapesDependOnWhatTheTraitSays) {
  for (const char* text : {
           "Relu shape=2x3",
           "Add shape=2x3,3",
           "Concat shape=2x3,2x4 axis=1",
           "Transpose shape=2x3",
           "Conv shape=1x4x8x8,4x4x3x3",
           "MatMul shape=2x3,3x4",
           "MaxPool shape=1x4x8x8 kernel_shape=2,2",
           "Softmax shape=2x3",
           "Reshape shape=2x3 ints=1:3,2",
           "Expand shape=1x3 ints=1:2,3",
           "Tile shape=1x3 ints=1:2,3",
           "Pad shape=2x3 ints=1:0,0,1,1",
           "Unsqueeze shape=2x3 ints=1:0",
           "ReduceSum shape=2x3 ints=1:0",
           "ReduceMax shape=2x3 ints=1:0 opset=18",
           "TopK shape=2x3 ints=1:2",
           "NonZero shape=2x3",
           "Unique shape=4",
       }) {
    const std::string op(text, std::string_view(text).find(' '));
    EXPECT_EQ(known_without_values(text), traits_of(op).sized_by == SizedBy::shapes) << text;
  }
}

}  // namespace
}  // namespace anynpu::ops
