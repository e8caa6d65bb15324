// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

graph::Graph relu_of(Shape shape) {
  GraphForTest g;
  const graph::ValueId x = g.input("x", std::move(shape));
  g.graph.outputs = {g.node("Relu", {x}, "y")};
  return g.graph;
}

Result<om::Model> compile_with(Shape shape, const std::string& input_shape) {
  Options options;
  options.input_shapes = parse_input_shapes(input_shape).value();
  return compile(relu_of(std::move(shape)), options);
}

TEST(Compile, InputsAndOutputsAreDescribedWithSizesAndFormats) {
  auto model = compile_with({-1, 3, 4, 4}, "x:2,3,4,4");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const om::TensorInfo expected{"x", DType::f32, Format::nchw, {2, 3, 4, 4}, 384};
  EXPECT_EQ(model->meta.inputs[0], expected);
  EXPECT_EQ(model->meta.outputs[0].name, "Relu_y:0:y");
  EXPECT_EQ(model->meta.outputs[0].size, 384u);
  EXPECT_EQ(compile_with({2, 3}, "")->meta.inputs[0].format, Format::nd);
}

TEST(Compile, ABatchThatTheExporterFrozeCanBeReplaced) {
  EXPECT_EQ(compile_with({1, 3}, "x:8,3")->meta.outputs[0].shape, (Shape{8, 3}));
}

TEST(Compile, ShapesThatDoNotFitAreRefused) {
  EXPECT_EQ(compile_with({-1, 3}, "").status().code(), Code::unsupported_shape);
  EXPECT_EQ(compile_with({-1, 3}, "z:1,3").status().code(), Code::not_found);
  EXPECT_EQ(compile_with({-1, 3}, "x:1,4").status().code(), Code::shape_mismatch);
  EXPECT_EQ(compile_with({-1, 3}, "x:1,3,1").status().code(), Code::shape_mismatch);
}

}  // namespace
}  // namespace anynpu::compile
