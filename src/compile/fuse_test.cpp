// SPDX-License-Identifier: Apache-2.0
// The fusions of transformer networks: each pattern with the same result before and after, and the
// cases that must be left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <limits>

#include "compile/casts.h"
#include "compile/graph_for_test.h"
#include "compile/origins.h"
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
    graph::Value value = graph::tensor_value("shape" + std::to_string(g.graph.values.size()),
                                             DType::i64, {static_cast<int64_t>(shape.size())});
    value.constant = graph::constant_of(std::move(shape));
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

TEST_F(FuseTest, AProductWithItsSigmoidBecomesSwish) {
  for (bool first : {false, true}) {
    g = {};
    const ValueId x = g.input("x", {2, 5}), sigmoid = node("Sigmoid", {x});
    const ValueId y = first ? node("Mul", {sigmoid, x}) : node("Mul", {x, sigmoid});
    EXPECT_THAT(after(fuse_swishes, y), ElementsAre("Swish"));
  }
  g = {};
  const ValueId x = g.input("x", {2, 5}), z = g.input("z", {2, 5});
  const ValueId y = node("Mul", {x, node("Sigmoid", {z})});
  EXPECT_THAT(after(fuse_swishes, y), ElementsAre("Sigmoid", "Mul"));
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

TEST_F(FuseTest, AttentionWithANumberAddedToAllScoresHasNoMask) {
  const auto attention = [&](float shift) {
    g = {};
    const ValueId q = g.input("q", {1, 4, 6});
    const ValueId qt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId kt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 3, 1});
    const ValueId vt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId scores = node("Add", {node("MatMul", {qt, kt}), scalar(shift)});
    const ValueId context = node("MatMul", {node("Softmax", {scores}), vt});
    return reshape(transpose(context, {0, 2, 1, 3}), {1, 4, 6});
  };
  EXPECT_THAT(after(fuse_attentions, attention(3)), ElementsAre("FusedAttention"));
  EXPECT_EQ(g.graph.nodes[0].inputs.size(), 3u);
  EXPECT_EQ(after(fuse_attentions, attention(-3e38f)).size(), 12u) << "the scores vanish in it";
}

TEST_F(FuseTest, AttentionInMixedPrecisionBecomesOneNodeOfTheShortType) {
  // As mixed precision leaves it: products in bfloat16, mask and Softmax in float32.
  const int64_t bf16 = 16, f32 = 1;
  const auto cast = [&](ValueId x, int64_t to) {
    const ValueId y = node("Cast", {x});
    last().attrs["to"] = to;
    return y;
  };
  const auto heads = [&](const char* name) { return cast(g.input(name, {1, 4, 6}), bf16); };
  const ValueId mask = g.input("mask", {1, 1, 1, 4});
  const ValueId qt = transpose(reshape(heads("q"), {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId kt = transpose(reshape(heads("k"), {1, 4, 2, 3}), {0, 2, 3, 1});
  const ValueId vt = transpose(reshape(heads("v"), {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId scores = cast(node("MatMul", {qt, kt}), f32);
  const ValueId weights = node("Softmax", {node("Add", {scores, mask})});
  const ValueId product = node("MatMul", {cast(weights, bf16), vt});
  const ValueId joined = reshape(transpose(product, {0, 2, 1, 3}), {1, 4, 6});
  g.graph.outputs = {cast(joined, f32)};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  const auto before = GraphForTest::run(g.graph);
  ASSERT_TRUE(fuse_attentions(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph),
              ElementsAre("Cast", "Cast", "Cast", "FusedAttention", "Cast"));
  const auto after = GraphForTest::run(g.graph);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-2f) << i;
}

TEST_F(FuseTest, AttentionWhoseHeadsShareKeysOrValuesStays) {
  for (const auto& [of_k, of_v] : {std::pair{1, 1}, std::pair{1, 2}, std::pair{2, 1}}) {
    g = {};
    const ValueId q = g.input("q", {1, 4, 6}), k = g.input("k", {1, 5, 3 * of_k}),
                  v = g.input("v", {1, 5, 4 * of_v});
    const ValueId qt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId kt = transpose(reshape(k, {1, 5, of_k, 3}), {0, 2, 3, 1});
    const ValueId vt = transpose(reshape(v, {1, 5, of_v, 4}), {0, 2, 1, 3});
    const ValueId weights = node("Softmax", {node("MatMul", {qt, kt})});
    const ValueId y = reshape(transpose(node("MatMul", {weights, vt}), {0, 2, 1, 3}), {1, 4, 8});
    EXPECT_EQ(after(fuse_attentions, y).size(), 11u) << of_k << " " << of_v;
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

TEST_F(FuseTest, MatMulLeavesAFactorThatIsNotFinite) {
  for (const float number : {std::numeric_limits<float>::infinity(), 1e-45f}) {
    g = {};
    const ValueId product = node("MatMul", {g.input("a", {4, 5}), g.input("b", {5, 6})});
    g.graph.outputs = {node(number > 1 ? "Mul" : "Div", {product, scalar(number)})};
    ASSERT_TRUE(infer_and_fold(g.graph).ok());
    ASSERT_TRUE(fuse_matmuls(g.graph).ok());
    EXPECT_EQ(g.graph.nodes.size(), 2u) << number;
  }
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

TEST_F(FuseTest, TransposesCancelAcrossElementwiseOperators) {
  const ValueId x = g.input("x", {2, 3, 4, 5});
  const ValueId there = transpose(x, {0, 2, 3, 1});
  const ValueId sum = node("Add", {node("Relu", {there}), g.weight("row", {3})});
  const ValueId product = node("Mul", {g.weight("plane", {4, 1, 3}), sum});
  const ValueId y = transpose(node("Sigmoid", {product}), {0, 3, 1, 2});
  EXPECT_THAT(after(remove_transposes, y), ElementsAre("Relu", "Add", "Mul", "Sigmoid"));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(g.graph.outputs[0])].shape, (Shape{2, 3, 4, 5}));
}

TEST_F(FuseTest, TransposesOfAllInputsBecomeOneBehindTheOperator) {
  const ValueId x = g.input("x", {2, 3, 4}), z = g.input("z", {2, 5, 4});
  const ValueId joined = node("Concat", {transpose(x, {0, 2, 1}), transpose(z, {0, 2, 1})});
  last().attrs["axis"] = int64_t{-1};
  const ValueId y = node("Tanh", {joined});
  EXPECT_THAT(after(remove_transposes, y), ElementsAre("Concat", "Tanh", "Transpose"));
}

TEST_F(FuseTest, TransposesInARowBecomeOneAndThoseOfSingleExtentsNone) {
  const ValueId x = g.input("x", {2, 3, 4});
  EXPECT_THAT(after(remove_transposes, transpose(transpose(x, {2, 0, 1}), {2, 0, 1})),
              ElementsAre("Transpose"));
  g = {};
  const ValueId one = g.input("one", {1, 7, 1, 5});
  EXPECT_THAT(after(remove_transposes, transpose(one, {0, 2, 1, 3})), ElementsAre("Reshape"));
}

TEST_F(FuseTest, ATransposeOfNoElementsStays) {
  g.graph.outputs = {transpose(g.input("x", {0, 1, 3}), {1, 0, 2})};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(remove_transposes(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Transpose"));
}

TEST_F(FuseTest, TransposesThatOthersReadOrThatWouldGrowStay) {
  const ValueId x = g.input("x", {3, 4});
  const ValueId turned = transpose(x, {1, 0});
  const ValueId y = node("Add", {node("Relu", {turned}), turned});
  EXPECT_THAT(after(remove_transposes, y), ElementsAre("Transpose", "Relu", "Add"));
  g = {};
  const ValueId row = transpose(g.input("row", {4, 1}), {1, 0});
  EXPECT_THAT(after(remove_transposes, node("Relu", {node("Add", {g.weight("w", {6, 4}), row})})),
              ElementsAre("Reshape", "Add", "Relu"));
  g = {};
  const ValueId a = transpose(g.input("a", {4, 3}), {1, 0}), b = g.input("b", {3, 4});
  EXPECT_THAT(after(remove_transposes, node("Sub", {b, a})), ElementsAre("Transpose", "Sub"));
}

TEST_F(FuseTest, ASwapInFrontOfAMatMulStaysForIt) {
  const ValueId x = g.input("x", {2, 5, 3, 4}), z = g.input("z", {2, 3, 5, 4});
  const ValueId turned = transpose(transpose(x, {0, 2, 1, 3}), {0, 1, 3, 2});
  EXPECT_THAT(after(remove_transposes, node("MatMul", {z, turned})),
              ElementsAre("Transpose", "Transpose", "MatMul"));
}

// Convolutions of bf16 between casts, as assign_precision() leaves them.
class FuseBottleneckTest : public FuseTest {
 protected:
  ValueId cast(ValueId x, DType to) {
    const ValueId y = node("Cast", {x});
    last().attrs["to"] = static_cast<int64_t>(to == DType::bf16 ? 16 : 1);
    return y;
  }
  ValueId constant(const Shape& shape) {
    const ValueId full = g.weight("w" + std::to_string(g.graph.values.size()), shape);
    return type_ == DType::f32 ? full : convert_constant(g.graph, full, type_, false);
  }
  ValueId conv(ValueId x, const Shape& weight, int64_t group = 1, int64_t pad = 0) {
    const ValueId y = node("Conv", {x, constant(weight), constant({weight[0]})});
    last().attrs["group"] = group;
    last().attrs["pads"] = std::vector<int64_t>{pad, pad, pad, pad};
    return y;
  }
  ValueId expand(ValueId x) { return node("Relu", {conv(x, {24, 8, 1, 1})}); }
  ValueId filter(ValueId x) { return node("Relu", {conv(x, {24, 1, 3, 3}, 24, 1)}); }
  ValueId project(ValueId x) { return conv(x, {8, 24, 1, 1}); }
  ValueId input(int64_t channels) {
    const ValueId x = g.input("x", {1, channels, 6, 6});
    return type_ == DType::f32 ? x : cast(x, type_);
  }
  // The convolutions are fused before: that alone may change a rounding.
  std::vector<std::string> fused(ValueId y) {
    g.graph.outputs = {type_ == DType::f32 ? y : cast(y, DType::f32)};
    EXPECT_TRUE(infer_and_fold(g.graph).ok());
    EXPECT_TRUE(fuse_convs(g.graph).ok());
    return after(fuse_bottlenecks, g.graph.outputs[0]);
  }

  DType type_ = DType::bf16;
};

TEST_F(FuseBottleneckTest, ExpansionFilterProjectionAndResidualBecomeOneNode) {
  const ValueId x = input(8);
  const ValueId y = project(filter(expand(x)));
  const std::string name = last().name;
  EXPECT_THAT(fused(node("Add", {y, x})), ElementsAre("Cast", "FusedBottleneck", "Cast"));
  EXPECT_EQ(g.graph.nodes[1].name, name);
  EXPECT_EQ(g.graph.nodes[1].inputs[0], g.graph.nodes[1].inputs[7]);
}

TEST_F(FuseBottleneckTest, CarriesTheNamesOfAllItIsMadeOf) {
  const ValueId y = project(filter(expand(input(8))));
  const SourceNodes source(g.graph);
  fused(y);
  EXPECT_THAT(origins(source, g.graph)[1].second,
              ElementsAre("Conv_Conv1", "Relu_Relu2", "Conv_Conv3", "Relu_Relu4", "Conv_Conv5"));
}

TEST_F(FuseBottleneckTest, ChannelsMayComeExpanded) {
  EXPECT_THAT(fused(project(filter(input(24)))), ElementsAre("Cast", "FusedBottleneck", "Cast"));
}

TEST_F(FuseBottleneckTest, AFirstLayerMayExpand) {
  const ValueId first = conv(input(3), {24, 3, 3, 3}, 1, 1);
  last().attrs["strides"] = std::vector<int64_t>{2, 2};
  EXPECT_THAT(fused(project(filter(first))), ElementsAre("Cast", "FusedBottleneck", "Cast"));
  g = {};
  EXPECT_THAT(fused(project(filter(conv(input(8), {24, 8, 3, 3}, 1, 1)))),
              ElementsAre("Cast", "Conv", "FusedBottleneck", "Cast"));
}

TEST_F(FuseBottleneckTest, WhatOthersReadStays) {
  const ValueId middle = filter(expand(input(8)));
  const ValueId y = node("Add", {project(middle), conv(middle, {8, 24, 1, 1})});
  EXPECT_THAT(fused(y), ElementsAre("Cast", "FusedConv", "FusedConv", "Conv", "FusedConv", "Cast"));
}

TEST_F(FuseBottleneckTest, AnExpansionThatOthersReadStaysInFront) {
  const ValueId wide = expand(input(8));
  const ValueId y = node("Add", {project(filter(wide)), conv(wide, {8, 24, 1, 1})});
  EXPECT_THAT(fused(y), ElementsAre("Cast", "FusedConv", "Conv", "FusedBottleneck", "Cast"));
}

TEST_F(FuseBottleneckTest, Float32AndOtherWindowsStay) {
  const ValueId strided = conv(filter(input(24)), {8, 24, 1, 1});
  last().attrs["strides"] = std::vector<int64_t>{2, 2};
  EXPECT_THAT(fused(strided), ElementsAre("Cast", "FusedConv", "Conv", "Cast"));
  g = {};
  type_ = DType::f32;
  EXPECT_THAT(fused(project(filter(expand(input(8))))),
              ElementsAre("FusedConv", "FusedConv", "Conv"));
}

// A chain with something for every pass.
void add_blocks(GraphForTest& g, int blocks) {
  ValueId x = g.input("x", {1, 4, 4});
  const ValueId w = g.weight("w", {4, 4}), row = g.weight("row", {4});
  const ValueId half = g.weight("half", {}, 0.5f, 0.5f), one = g.weight("one", {}, 1, 1);
  const ValueId root = g.weight("root", {}, 1.41421356f, 1.41421356f);
  int made = 0;
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs) {
    return g.node(op, std::move(inputs), format("{}_{}", op, made++));
  };
  for (int i = 0; i < blocks; ++i) {
    const ValueId linear = add("Add", {add("MatMul", {add("Identity", {x}), w}), row});
    const ValueId erf = add("Erf", {add("Div", {linear, root})});
    const ValueId gelu = add("Mul", {add("Mul", {linear, add("Add", {erf, one})}), half});
    const ValueId turned = add("Relu", {add("Transpose", {gelu})});
    x = add("Add", {add("Transpose", {turned}), x});
  }
  g.graph.outputs = {x};
}

double seconds_of_passes(int blocks) {
  GraphForTest g;
  add_blocks(g, blocks);
  EXPECT_TRUE(g.graph.verify().ok());
  timespec begin, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  EXPECT_TRUE(remove_identities(g.graph).ok());
  EXPECT_TRUE(infer_and_fold(g.graph).ok());
  for (auto* pass : {fuse_layer_norms, fuse_gelus, fuse_swishes, fuse_attentions, remove_transposes,
                     fuse_matmuls, fuse_convs, fuse_bottlenecks, remove_dead}) {
    EXPECT_TRUE(pass(g.graph).ok());
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  EXPECT_LE(g.graph.nodes.size(), static_cast<size_t>(3 * blocks));
  return static_cast<double>(end.tv_sec - begin.tv_sec) +
         static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

TEST(Passes, TakeTimeInProportionToTheGraph) {
  const double small = std::min(seconds_of_passes(180), seconds_of_passes(180));
  const double large = seconds_of_passes(1800);  // 19,800 nodes
  EXPECT_LT(large, 30 * small) << "ten times the nodes; a hundred times would be quadratic";
}

}  // namespace
}  // namespace anynpu::compile
