// SPDX-License-Identifier: Apache-2.0
#include "compile/casts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "compile/graph_for_test.h"
#include "tensor/dtype.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(Casts, ACastNodeGoesToTheTypeOfItsOutput) {
  GraphForTest g;
  const ValueId x = g.input("x", {2, 3});
  const ValueId y = add_typed(g.graph, x, DType::f16);
  const graph::Node node = cast_node(g.graph, x, y);
  EXPECT_EQ(node.op, "Cast");
  EXPECT_EQ(node.int_attr("to", 0), 10) << "ONNX's FLOAT16";
  EXPECT_THAT(node.inputs, ElementsAre(x));
  EXPECT_THAT(node.outputs, ElementsAre(y));
}

TEST(Casts, ATypedCopyKeepsTheShapeAndHasANameOfItsOwn) {
  GraphForTest g;
  const ValueId w = g.weight("w", {3});
  const graph::Value made = g.graph.values[static_cast<size_t>(add_typed(g.graph, w, DType::bf16))];
  EXPECT_EQ(made.shape, (Shape{3}));
  EXPECT_EQ(made.dtype, DType::bf16);
  EXPECT_NE(made.name, "w");
  EXPECT_FALSE(made.constant);
}

std::vector<float> rounded(float element, bool clip) {
  graph::Graph graph;
  const ValueId id = add_constant(graph, "c", {1}, std::vector<float>{element});
  return constant_elements<float>(graph, round_constant(graph, id, clip));
}

TEST(Casts, ARoundedConstantHasAnElementOfFloat16) {
  EXPECT_THAT(rounded(1.0f, true), ElementsAre(1.0f));
  EXPECT_THAT(rounded(1.0f + 1e-4f, true), ElementsAre(1.0f));
  EXPECT_THAT(rounded(2049.0f, true), ElementsAre(2048.0f));
}

TEST(Casts, ClippingKeepsFiniteElementsFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(rounded(1e6f, true), ElementsAre(65504.0f));
  EXPECT_THAT(rounded(-1e6f, true), ElementsAre(-65504.0f));
  EXPECT_THAT(rounded(1e6f, false), ElementsAre(infinity));
  EXPECT_THAT(rounded(infinity, true), ElementsAre(infinity));
}

TEST(Casts, AConstantInAShortTypeTakesHalfTheBytes) {
  for (const DType type : {DType::f16, DType::bf16}) {
    GraphForTest g;
    const ValueId id = convert_constant(g.graph, g.weight("w", {5}), type, true);
    const graph::Value& value = g.graph.values[static_cast<size_t>(id)];
    EXPECT_EQ(value.dtype, type);
    EXPECT_EQ(value.constant->bytes.size(), 10u);
  }
}

}  // namespace
}  // namespace anynpu::compile
