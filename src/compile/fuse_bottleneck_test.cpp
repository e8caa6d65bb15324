// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/casts.h"
#include "compile/graph_for_test.h"
#include "compile/origins.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

// Convolutions of bf16 between casts, as assign_precision() leaves them.
class FuseBottleneckTest : public PassTest {
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
    EXPECT_TRUE(fuse_conv(g.graph).ok());
    return after(fuse_bottleneck, g.graph.outputs[0]);
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

}  // namespace
}  // namespace anynpu::compile
