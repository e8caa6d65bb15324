// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <span>

#include "ops/test_node.h"

namespace anynpu::ops::elementwise {
namespace {

using Floats = std::vector<float>;

// Tensors of complex numbers: pairs of floats.
struct Tensor {
  Shape shape;
  Floats parts;
};

Result<OpContext> inferred(graph::Node& node, const char* function,
                           const std::vector<Tensor>& inputs) {
  node.op = "ComplexFunction";
  node.domain = "anynpu";
  node.name = "test";
  node.opset = 1;
  node.attrs["function"] = std::string(function);
  node.outputs = {1000};
  std::vector<Operand> operands;
  for (const Tensor& tensor : inputs) {
    operands.push_back(Operand::of(DType::c64, tensor.shape));
    operands.back().is_constant = true;
    operands.back().constant = std::as_bytes(std::span(tensor.parts));
    node.inputs.push_back(static_cast<int>(operands.size()) - 1);
  }
  return infer(node, std::move(operands));
}

Floats value(const char* function, const std::vector<Tensor>& inputs) {
  graph::Node node;
  const auto context = inferred(node, function, inputs);
  EXPECT_TRUE(context.ok()) << context.status().to_string();
  const auto outputs = evaluate(*context);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  Floats values((*outputs)[0].size() / sizeof(float));
  std::memcpy(values.data(), (*outputs)[0].data(), (*outputs)[0].size());
  return values;
}

std::string refusal(const char* function) {
  graph::Node node;
  return inferred(node, function, {{{1}, {1, 1}}}).status().to_string();
}

TEST(ComplexFunctions, ValuesThatOneCanCheck) {
  EXPECT_EQ(value("Square", {{{2}, {1, 2, 0, 1}}}), (Floats{-3, 4, -1, 0}));
  EXPECT_EQ(value("Sqrt", {{{1}, {-4, 0}}}), (Floats{0, 2}));
  const Floats turned = value("Exp", {{{1}, {0, static_cast<float>(M_PI)}}});
  EXPECT_NEAR(turned[0], -1, 1e-6);
  EXPECT_NEAR(turned[1], 0, 1e-6);
}

TEST(ComplexFunctions, SmallNumbersKeepTheirDigits) {
  const Floats log = value("Log1p", {{{1}, {1e-12f, 2e-12f}}});
  const Floats exp = value("Expm1", {{{1}, {1e-12f, 2e-12f}}});
  for (const Floats& y : {log, exp}) {
    EXPECT_FLOAT_EQ(y[0], 1e-12f);
    EXPECT_FLOAT_EQ(y[1], 2e-12f);
  }
}

TEST(ComplexFunctions, PartsAreRealNumbers) {
  const Tensor x{{2}, {3, 4, 0, -2}};
  EXPECT_EQ(value("Abs", {x}), (Floats{5, 2}));
  EXPECT_EQ(value("Imag", {x}), (Floats{4, -2}));
}

TEST(ComplexFunctions, TwoTensorsAreBroadcast) {
  EXPECT_EQ(value("Mul", {{{2, 1}, {1, 1, 0, 2}}, {{2}, {1, 0, 0, 1}}}),
            (Floats{1, 1, -1, 1, 0, 2, -2, 0}));
}

// Longer than a block of the loader, and one operand repeated.
TEST(ComplexFunctions, LongRowsGoBlockByBlock) {
  Tensor x{{1000}, Floats(2000, 1.0f)};
  x.parts[1998] = 7;
  const Floats sums = value("Add", {x, {{}, {2, 3}}});
  EXPECT_EQ(sums[0], 3);
  EXPECT_EQ(sums[1], 4);
  EXPECT_EQ(sums[1998], 9);
}

TEST(ComplexFunctions, ZeroHasItsRules) {
  EXPECT_EQ(value("DivNoNan", {{{1}, {1, 1}}, {{1}, {0, 0}}}), (Floats{0, 0}));
  EXPECT_EQ(value("Sign", {{{2}, {0, 0, 0, 5}}}), (Floats{0, 0, 0, 1}));
}

TEST(ComplexFunctions, RefuseWhatTheTableLacks) {
  EXPECT_NE(refusal("Gamma").find("'Gamma'"), std::string::npos);
  EXPECT_NE(refusal("Add").find("takes 2 inputs"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::elementwise
