// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include <gtest/gtest.h>

#include "compile/convert.h"
#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

std::string message(const std::string& text) { return parse_input_shapes(text).status().message(); }

TEST(InputShape, TheDocumentedGrammarIsRead) {
  auto shapes = parse_input_shapes("a:1,3,224,224;scope/b:0:2;c:;d:-1,1~10");
  ASSERT_TRUE(shapes.ok()) << shapes.status().to_string();
  ASSERT_EQ(shapes->size(), 4u);
  EXPECT_EQ((*shapes)[0].extents[3], (Extent{224, 224}));
  EXPECT_EQ((*shapes)[1].name, "scope/b:0");
  EXPECT_TRUE((*shapes)[2].extents.empty());
  EXPECT_EQ((*shapes)[3].extents[0], (Extent{0, -1}));
  EXPECT_EQ((*shapes)[3].extents[1], (Extent{1, 10}));
  EXPECT_TRUE(parse_input_shapes("")->empty());
  EXPECT_EQ(parse_input_shapes("a:1,2;")->size(), 1u);
}

TEST(InputShape, MistakesAreNamed) {
  EXPECT_NE(message("a:1,x").find("'x'"), std::string::npos);
  EXPECT_NE(message("1,3,224").find("has no name"), std::string::npos);
  EXPECT_NE(message("a:1,").find("comma"), std::string::npos);
  EXPECT_NE(message("a:1;a:2").find("twice"), std::string::npos);
  EXPECT_NE(message("a:-2").find("'-2'"), std::string::npos);
  EXPECT_NE(message("a:10~1").find("10~1"), std::string::npos);
  EXPECT_NE(message("a:99999999999999999999").find("9999"), std::string::npos);
}

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

TEST(Convert, FrameworksOfLaterReleasesAreRefusedByName) {
  EXPECT_TRUE(parse_framework("5").ok());
  EXPECT_TRUE(parse_framework("0").ok());
  EXPECT_EQ(parse_framework("3").status().code(), Code::unsupported_feature);
  EXPECT_EQ(parse_framework("1").status().code(), Code::unsupported_feature);
  EXPECT_EQ(parse_framework("7").status().code(), Code::invalid_argument);
  EXPECT_EQ(parse_framework("").status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::compile
