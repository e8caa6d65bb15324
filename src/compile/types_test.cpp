// SPDX-License-Identifier: Apache-2.0
#include "compile/types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

class TypesTest : public PassTest {
 protected:
  const graph::Value& value(ValueId id) const { return g.graph.values[static_cast<size_t>(id)]; }
  ValueId cast(ValueId x, int64_t to) {
    const ValueId y = node("Cast", {x});
    last().attrs["to"] = to;
    return y;
  }
};

TEST_F(TypesTest, AreLearntFromAGraphWithOpenShapes) {
  const ValueId y = node("Relu", {g.input("x", {-1, 3})});
  g.graph.outputs = {y};
  const std::vector<Shape> shapes = {{2, 3}};
  const auto sample = learn_types(g.graph, shapes);
  ASSERT_TRUE(sample.ok()) << sample.status().to_string();
  EXPECT_EQ(sample->values[static_cast<size_t>(y)].shape, (Shape{2, 3}));
  EXPECT_EQ(value(y).dtype, DType::f32);
}

TEST_F(TypesTest, AnInputFedInFloat16IsCastBack) {
  const ValueId y = node("Relu", {g.input("x", {2, 3})});
  g.graph.outputs = {y};
  ASSERT_TRUE(feed_in_fp16({"x"}, g.graph).ok());
  ASSERT_TRUE(g.graph.verify().ok());
  EXPECT_EQ(value(g.graph.inputs[0]).dtype, DType::f16);
  EXPECT_EQ(value(g.graph.inputs[0]).name, "x");
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Cast", "Relu"));
}

TEST_F(TypesTest, OnlyFloat32InputsCanBeFedInFloat16) {
  g.graph.outputs = {node("Relu", {g.input("x", {2})})};
  EXPECT_THAT(feed_in_fp16({"z"}, g.graph).message(), HasSubstr("'z'"));
  g.graph.values[static_cast<size_t>(g.graph.inputs[0])].dtype = DType::i64;
  EXPECT_FALSE(feed_in_fp16({"x"}, g.graph).ok());
}

TEST_F(TypesTest, OutputsAreCastAndKeepTheirNames) {
  g.graph.outputs = {node("Relu", {g.input("x", {2})})};
  const std::string name = value(g.graph.outputs[0]).name;
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(cast_outputs({DType::undefined}, g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 1u);
  ASSERT_TRUE(cast_outputs({DType::f16}, g.graph).ok());
  EXPECT_EQ(value(g.graph.outputs[0]).dtype, DType::f16);
  EXPECT_EQ(value(g.graph.outputs[0]).name, name);
}

TEST_F(TypesTest, ACastToAWiderTypeAndBackGoes) {
  const ValueId x = g.input("x", {2});
  g.graph.outputs = {node("Neg", {cast(cast(x, 11), 1)})};  // float64, float32
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(remove_cast_pairs(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Neg"));
}

TEST_F(TypesTest, ACastToAShorterTypeAndBackStays) {
  const ValueId x = g.input("x", {2});
  g.graph.outputs = {node("Neg", {cast(cast(x, 10), 1)})};  // float16, float32
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(remove_cast_pairs(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Cast", "Cast", "Neg"));
}

}  // namespace
}  // namespace anynpu::compile
