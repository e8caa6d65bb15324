// SPDX-License-Identifier: Apache-2.0
// The fusions of transformer networks: each pattern with the same result before and after, and the
// cases that must be left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

class FuseTest : public testing::Test {
 protected:
  ValueId scalar(float value, Shape shape = {}) {
    return add_constant(g.graph, "scalar", shape, std::vector<float>{value});
  }
  ValueId node(const std::string& op, std::vector<ValueId> inputs) {
    return g.node(op, std::move(inputs), op + std::to_string(g.graph.nodes.size()));
  }
  graph::Node& last() { return g.graph.nodes.back(); }

  // What is left after `pass`, with the same result as before.
  std::vector<std::string> after(Status (*pass)(graph::Graph&), ValueId output) {
    g.graph.outputs = {output};
    EXPECT_TRUE(infer_and_fold(g.graph).ok());
    const auto before = GraphForTest::run(g.graph);
    const Status status = pass(g.graph);
    EXPECT_TRUE(status.ok()) << status.to_string();
    expect_near(GraphForTest::run(g.graph), before);
    return GraphForTest::ops(g.graph);
  }

  ValueId layer_norm(ValueId x, bool power, int64_t width) {
    const ValueId mean = node("ReduceMean", {x});
    last().attrs["axes"] = std::vector<int64_t>{-1};
    const ValueId d = node("Sub", {x, mean});
    const ValueId square = power ? node("Pow", {d, scalar(2)}) : node("Mul", {d, d});
    const ValueId variance = node("ReduceMean", {square});
    last().attrs["axes"] = std::vector<int64_t>{-1};
    const ValueId root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
    const ValueId scaled = node("Mul", {g.weight("scale", {width}), node("Div", {d, root})});
    return node("Add", {scaled, g.weight("bias", {width})});
  }

  ValueId transpose(ValueId x, std::vector<int64_t> perm) {
    const ValueId y = node("Transpose", {x});
    last().attrs["perm"] = std::move(perm);
    return y;
  }
  ValueId reshape(ValueId x, std::vector<int64_t> shape) {
    auto owner = std::make_shared<const std::vector<int64_t>>(std::move(shape));
    graph::Value value;
    value.name = "shape" + std::to_string(g.graph.values.size());
    value.dtype = DType::i64;
    value.shape = {static_cast<int64_t>(owner->size())};
    value.has_shape = true;
    value.constant = std::make_shared<const graph::Constant>(
        graph::Constant{owner, std::as_bytes(std::span(*owner))});
    return node("Reshape", {x, g.graph.add_value(value)});
  }

  GraphForTest g;
};

TEST_F(FuseTest, LayerNormWithPowOrMulBecomesOneNode) {
  for (bool power : {false, true}) {
    g = {};
    const ValueId x = g.input("x", {2, 3, 8});
    EXPECT_THAT(after(fuse_layer_norms, layer_norm(x, power, 8)),
                ElementsAre("LayerNormalization"));
  }
}

TEST_F(FuseTest, LayerNormOverAnotherAxisStays) {
  const ValueId x = g.input("x", {2, 8, 8});
  const ValueId y = layer_norm(x, false, 8);
  g.graph.nodes[0].attrs["axes"] = std::vector<int64_t>{1};
  EXPECT_EQ(after(fuse_layer_norms, y).size(), 9u);
}

TEST_F(FuseTest, GeluInEitherFormAndOrderBecomesOneNode) {
  for (int form = 0; form < 4; ++form) {
    g = {};
    const ValueId x = g.input("x", {2, 5});
    ValueId inner;
    if (form < 2) {
      const ValueId arg =
          form == 0 ? node("Div", {x, scalar(1.41421356f)}) : node("Mul", {scalar(0.70710678f), x});
      inner = node("Erf", {arg});
    } else {
      const ValueId cube =
          form == 2 ? node("Pow", {x, scalar(3)}) : node("Mul", {node("Mul", {x, x}), x});
      const ValueId sum = node("Add", {x, node("Mul", {cube, scalar(0.044715f)})});
      inner = node("Tanh", {node("Mul", {sum, scalar(0.79788456f)})});
    }
    const ValueId one = node("Add", {inner, scalar(1)});
    const ValueId y = form % 2 ? node("Mul", {node("Mul", {x, scalar(0.5f)}), one})
                               : node("Mul", {node("Mul", {x, one}), scalar(0.5f)});
    EXPECT_THAT(after(fuse_gelus, y), ElementsAre("Gelu")) << form;
  }
}

TEST_F(FuseTest, AProductThatIsAlmostGeluStays) {
  const ValueId x = g.input("x", {2, 5});
  const ValueId erf = node("Erf", {node("Div", {x, scalar(1.5f)})});
  const ValueId y = node("Mul", {node("Mul", {x, node("Add", {erf, scalar(1)})}), scalar(0.5f)});
  EXPECT_EQ(after(fuse_gelus, y).size(), 5u);
}

TEST_F(FuseTest, AttentionWithMaskBecomesOneNode) {
  for (bool twice : {false, true}) {
    g = {};
    const ValueId q = g.input("q", {2, 4, 6}), k = g.input("k", {2, 5, 6}),
                  v = g.input("v", {2, 5, 8}), mask = g.input("mask", {2, 1, 1, 5});
    const ValueId qt = transpose(reshape(q, {2, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId kt =
        twice ? transpose(transpose(reshape(k, {2, 5, 2, 3}), {0, 2, 1, 3}), {0, 1, 3, 2})
              : transpose(reshape(k, {2, 5, 2, 3}), {0, 2, 3, 1});
    const ValueId scores = node("Div", {node("MatMul", {qt, kt}), scalar(1.7f)});
    const ValueId weights = node("Softmax", {node("Add", {scores, mask})});
    const ValueId vt = transpose(reshape(v, {2, 5, 2, 4}), {0, 2, 1, 3});
    const ValueId context = transpose(node("MatMul", {weights, vt}), {0, 2, 1, 3});
    EXPECT_THAT(after(fuse_attentions, reshape(context, {2, 4, 8})), ElementsAre("FusedAttention"));
    EXPECT_EQ(g.graph.nodes[0].int_attr("heads", 0), 2);
    EXPECT_EQ(g.graph.nodes[0].inputs.size(), 4u);
  }
}

TEST_F(FuseTest, AttentionWhoseWeightsAreSeenStays) {
  const ValueId q = g.input("q", {1, 4, 6});
  const ValueId qt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId kt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 3, 1});
  const ValueId vt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId weights = node("Softmax", {node("MatMul", {qt, kt})});
  const ValueId y = reshape(transpose(node("MatMul", {weights, vt}), {0, 2, 1, 3}), {1, 4, 6});
  g.graph.outputs = {y, weights};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(fuse_attentions(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 11u);
}

TEST_F(FuseTest, MatMulTakesTransposeRowTensorAndActivation) {
  const ValueId a = g.input("a", {2, 4, 5}), b = g.input("b", {2, 6, 5}),
                z = g.input("z", {2, 4, 6});
  const ValueId product = node("MatMul", {a, transpose(b, {0, 2, 1})});
  const ValueId scaled = node("Mul", {product, scalar(0.25f)});
  const ValueId sum = node("Add", {z, node("Add", {g.weight("row", {6}), scaled})});
  EXPECT_THAT(after(fuse_matmuls, node("Relu", {sum})), ElementsAre("FusedMatMul"));
}

TEST_F(FuseTest, MatMulLeavesAnAddThatWouldChangeItsShape) {
  const ValueId a = g.input("a", {4, 5}), b = g.input("b", {5, 6}), z = g.input("z", {2, 4, 6});
  EXPECT_THAT(after(fuse_matmuls, node("Add", {node("MatMul", {a, b}), z})),
              ElementsAre("MatMul", "Add"));
}

TEST_F(FuseTest, MatMulAddedToItselfKeepsTheAdd) {
  const ValueId a = g.input("a", {4, 5}), b = g.input("b", {5, 6});
  const ValueId product = node("MatMul", {a, b});
  EXPECT_THAT(after(fuse_matmuls, node("Add", {product, product})), ElementsAre("MatMul", "Add"));
}

TEST_F(FuseTest, GemmTakesTanh) {
  const ValueId x = g.input("x", {3, 4});
  const ValueId y = node("Tanh", {node("Gemm", {x, g.weight("w", {4, 5}), g.weight("b", {5})})});
  EXPECT_THAT(after(fuse_matmuls, y), ElementsAre("FusedGemm"));
}

}  // namespace
}  // namespace anynpu::compile
