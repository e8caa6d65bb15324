// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

// A value for an attribute that an operator without inputs asks for.
graph::Attr some_value(const AttrSchema& attr) {
  if (attr.kind == AttrKind::ints) return std::vector<int64_t>{2, 3};
  if (attr.kind == AttrKind::f) return 1.0f;
  return int64_t{1};
}

// Every operator that may stand without inputs, evaluated without them: an answer or a sentence.
TEST(Evaluate, operators_without_inputs_give_values_or_say_why_not) {
  int evaluated = 0, refused = 0;
  for (const OpSchema& schema : Registry::instance().schemas()) {
    bool stands_alone = true;
    for (const FormalOperand& input : schema.inputs) {
      stands_alone = stands_alone && input.presence != Presence::required;
    }
    if (!stands_alone) continue;
    TestNode node{std::string(schema.name), schema.since, std::string(schema.domain)};
    for (const AttrSchema& attr : schema.attrs) {
      if (attr.required && attr.kind <= AttrKind::ints) {
        node.attr(std::string(attr.name), some_value(attr));
      }
    }
    const auto context = node.infer();
    if (!context.ok()) {
      EXPECT_FALSE(context.status().message().empty()) << schema.name;
      ++refused;
      continue;
    }
    const auto outputs = evaluate(*context);
    if (!outputs.ok()) {
      EXPECT_FALSE(outputs.status().message().empty()) << schema.name;
      ++refused;
      continue;
    }
    const Operand& first = context->outputs[0];
    EXPECT_EQ((*outputs)[0].size(),
              bytes_of(first.dtype, static_cast<size_t>(element_count(first.shape))))
        << schema.name;
    ++evaluated;
  }
  EXPECT_GE(evaluated, 2);  // RandomUniform and RandomNormal at least
  EXPECT_GE(refused, 1);    // Constant has no value here, SequenceEmpty no kernel
}

TEST(Evaluate, random_numbers_without_inputs_are_drawn) {
  for (const char* op : {"RandomUniform", "RandomNormal"}) {
    const auto values =
        TestNode(op, 1).attr("shape", std::vector<int64_t>{50, 2}).attr("seed", 7.0f).evaluate();
    ASSERT_EQ(values.size(), 100u) << op;
    EXPECT_NE(values[0], values[1]) << op;
  }
}

}  // namespace
}  // namespace anynpu::ops
