// SPDX-License-Identifier: Apache-2.0
// The checks that every node passes before its shape rule: what a schema says of the number of
// elements of an input and of its outputs.
#include <gtest/gtest.h>

#include <algorithm>

#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

// The sentence of the refusal; "" when the node is accepted.
std::string refusal(TestNode& node) {
  const auto context = node.infer();
  return context.ok() ? "" : context.status().to_string();
}

TEST(Forms, EveryRowNamesAnInputOfASchema) {
  struct Row {
    std::string_view op, input;
  };
  const Row rows[] = {
#define X(op, input, form) {op, input},
#include "ops/forms.def"
#undef X
  };
  for (const Row& row : rows) {
    const auto schemas = Registry::instance().schemas();
    const bool found = std::any_of(schemas.begin(), schemas.end(), [&](const OpSchema& schema) {
      return schema.name == row.op &&
             std::any_of(schema.inputs.begin(), schema.inputs.end(),
                         [&](const FormalOperand& input) { return input.name == row.input; });
    });
    EXPECT_TRUE(found) << row.op << " " << row.input;
  }
}

TEST(Forms, AScalarHasOneElement) {
  struct Row {
    const char* op;
    int64_t opset;
    const char* input;
    void (*fill)(TestNode& node, Shape shape);
  };
  const Row rows[] = {
      {"Trilu", 14, "'k'",
       [](TestNode& n, Shape s) {
         n.shape({3, 3}).shape(s, DType::i64);
       }},
      {"OneHot", 11, "'depth'",
       [](TestNode& n, Shape s) { n.shape({2}, DType::i64).shape(s, DType::i64).shape({2}); }},
      {"Dropout", 13, "'ratio'", [](TestNode& n, Shape s) { n.shape({2}).shape(s); }},
      {"Clip", 13, "'min'", [](TestNode& n, Shape s) { n.shape({2}).shape(s); }},
      {"Pad", 13, "'constant_value'",
       [](TestNode& n, Shape s) {
         n.shape({2}).ints({0, 1}).shape(s);
       }},
      {"TopK", 11, "'K'", [](TestNode& n, Shape s) { n.shape({2}).shape(s, DType::i64); }},
      {"Range", 11, "'limit'", [](TestNode& n, Shape s) { n.shape({}).shape(s).shape({}); }},
      {"CumSum", 14, "'axis'", [](TestNode& n, Shape s) { n.shape({2}).shape(s, DType::i64); }},
  };
  for (const Row& row : rows) {
    for (const Shape& shape : {Shape{0}, Shape{2}, Shape{1, 0}}) {
      TestNode node(row.op, row.opset);
      if (std::string_view(row.op) == "TopK") node.node.outputs = {1000, 1001};
      row.fill(node, shape);
      const std::string said = refusal(node);
      EXPECT_NE(said.find(row.input), std::string::npos) << row.op << ": " << said;
      EXPECT_NE(said.find("expected one element"), std::string::npos) << row.op << ": " << said;
    }
  }
}

TEST(Forms, TrainingStepsNeedTheirRateAndCount) {
  for (const char* op : {"Adagrad", "Adam", "Momentum"}) {
    TestNode node(op, 1, "ai.onnx.preview.training");
    node.shape({0}).shape({}, DType::i64);
    for (int i = 0; i < 4; ++i) node.shape({2});
    EXPECT_NE(refusal(node).find("expected one element"), std::string::npos) << refusal(node);
  }
}

TEST(Forms, AScalarMayHaveARankAndAnUnknownExtent) {
  EXPECT_EQ(TestNode("Trilu", 14).shape({3, 3}).shape({1}, DType::i64).shape_text(), "3x3");
  EXPECT_EQ(TestNode("Trilu", 14).shape({3, 3}).shape({1, 1}, DType::i64).shape_text(), "3x3");
  EXPECT_EQ(TestNode("Trilu", 14).shape({3, 3}).shape({-1}, DType::i64).shape_text(), "3x3");
}

TEST(Forms, AListHasRankOne) {
  const std::string said = TestNode("Reshape", 13).shape({4}).ints({1, 2}, {2, 2}).shape_text();
  EXPECT_NE(said.find("expected a list"), std::string::npos) << said;
}

// It was written through an output_shape with fewer entries than the input has axes.
TEST(Forms, MaxUnpoolNeedsAnExtentForEachAxis) {
  const auto unpool = [](Ints wanted) {
    return TestNode("MaxUnpool", 11)
        .shape({1, 1, 2, 2})
        .shape({1, 1, 2, 2}, DType::i64)
        .ints(std::move(wanted))
        .attr("kernel_shape", Ints{2, 2})
        .attr("strides", Ints{2, 2})
        .shape_text();
  };
  EXPECT_EQ(unpool({1, 1, 5, 5}), "1x1x5x5");
  for (const Ints& wanted : {Ints{}, Ints{1}, Ints{5, 5}, Ints{1, 1, 5, 5, 5}}) {
    EXPECT_NE(unpool(wanted).find("expected 4 elements"), std::string::npos) << unpool(wanted);
  }
}

TEST(Forms, ARequiredOutputCannotBeLeftOut) {
  TestNode node("Attention", 23);
  node.shape({1, 2, 4, 8}).shape({1, 2, 4, 8}).shape({1, 2, 4, 8});
  node.node.outputs = {graph::kNoValue, 1001};
  EXPECT_NE(refusal(node).find("lacks output 0 ('Y')"), std::string::npos) << refusal(node);
  TestNode top("TopK", 11);
  top.shape({2}).ints({}, {1});
  top.node.outputs = {1000, graph::kNoValue};
  EXPECT_NE(refusal(top).find("lacks output 1 ('Indices')"), std::string::npos) << refusal(top);
}

}  // namespace
}  // namespace anynpu::ops
