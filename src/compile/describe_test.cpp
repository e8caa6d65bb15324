// SPDX-License-Identifier: Apache-2.0
#include "compile/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Describe, FormatsFollowTheRank) {
  EXPECT_EQ(format_for({1, 3, 4, 4}, Format::nchw), Format::nchw);
  EXPECT_EQ(format_for({1, 3, 4, 4}, Format::nhwc), Format::nhwc);
  EXPECT_EQ(format_for({1, 3, 4}, Format::nchw), Format::nd);
  EXPECT_EQ(format_for({1, 3, 2, 4, 4}, Format::ncdhw), Format::ncdhw);
  EXPECT_EQ(format_for({1, 3, 4, 4}, Format::ncdhw), Format::nd);
}

TEST(Describe, OutputsAreNamedAfterNodeIndexAndTensor) {
  GraphForTest g;
  const auto x = g.input("x", {2});
  const auto y = g.node("Relu", {x}, "y");
  const auto z = g.node("Neg", {x}, "z");
  g.graph.values[static_cast<size_t>(z)].source = "layer:1";
  g.graph.outputs = {y, z, x};
  EXPECT_THAT(output_names(g.graph), ElementsAre("Relu_y:0:y", "layer:1:z", "x:0:x"));
}

TEST(Describe, ATensorHasItsBytes) {
  const auto info = describe("name", graph::tensor_value("v", DType::f16, {2, 3}));
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(info->name, "name");
  EXPECT_EQ(info->size, 12u);
}

TEST(Describe, AnOpenShapeHasNoBytes) {
  graph::Value value = graph::tensor_value("v", DType::f32, {});
  value.has_shape = false;
  const auto info = describe("v", value);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->shape, om::kUnknownRank);
  EXPECT_EQ(info->size, 0u);
}

TEST(Describe, StringsSequencesAndAbsurdSizesAreRefused) {
  const auto message = [](const graph::Value& value) {
    return describe("v", value).status().message();
  };
  EXPECT_THAT(message(graph::tensor_value("v", DType::string, {2})), HasSubstr("strings"));
  EXPECT_THAT(message(graph::tensor_value("v", DType::f32, {int64_t{1} << 40, int64_t{1} << 20})),
              HasSubstr("too large"));
  graph::Value sequence = graph::tensor_value("v", DType::f32, {2});
  sequence.kind = graph::ValueKind::sequence;
  EXPECT_THAT(message(sequence), HasSubstr("no tensor"));
}

}  // namespace
}  // namespace anynpu::compile
