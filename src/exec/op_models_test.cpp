// SPDX-License-Identifier: Apache-2.0
#include "exec/op_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/single_op.h"

namespace anynpu::exec {
namespace {

using singleop::SingleOp;
using testing::ElementsAre;
using testing::HasSubstr;

TensorDesc op_tensor(DType dtype, Shape shape) {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.format = Format::nd;
  desc.shape = std::move(shape);
  return desc;
}
SingleOp described(const std::string& type, Shape shape) {
  SingleOp op;
  op.type = type;
  op.inputs = op.outputs = {op_tensor(DType::f32, std::move(shape))};
  return op;
}
om::Model compiled(const SingleOp& op) {
  auto model = compile::compile_single_op(op, {});
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return std::move(*model);
}
std::vector<float> run_plan(LoadedModel& plan, std::vector<float> x) {
  std::vector<float> y(x.size());
  const Buffer in[] = {{x.data(), x.size() * 4}}, out[] = {{y.data(), y.size() * 4}};
  const Status status = plan.run(in, out);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return y;
}

TEST(OpModels, AModelIsFoundByOperatorTensorsAndAttributes) {
  OpModels models;
  ASSERT_TRUE(models.add(compiled(described("Relu", {2})), OpModels::Origin::loaded).ok());
  const auto found = models.find(described("Relu", {2}));
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ((*found)->op().type, "Relu");
  EXPECT_THAT((*found)->fed_inputs(), ElementsAre(0));
  EXPECT_FALSE((*found)->sized_by_values());
  const Shape shapes[] = {{2}};
  EXPECT_THAT(run_plan(**(*found)->plan_for(shapes), {-1, 2}), ElementsAre(0, 2));

  const Status other = models.find(described("Relu", {3})).status();
  EXPECT_EQ(other.code(), Code::unsupported_op);
  EXPECT_THAT(other.message(), HasSubstr("there are"));
  EXPECT_THAT(models.find(described("Neg", {2})).status().message(),
              HasSubstr("there is none of this type"));
}

TEST(OpModels, WhatIsMissingIsCompiledOnce) {
  OpModels models;
  const auto first = models.find_or_compile(described("Neg", {2}));
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ(models.find_or_compile(described("Neg", {2})).value(), *first);
  EXPECT_EQ(models.size(), 1u);
  EXPECT_EQ(models.find_or_compile(described("NoSuchOp", {2})).status().code(),
            Code::unsupported_op);
  models.clear();
  EXPECT_EQ(models.size(), 0u);
}

TEST(OpModels, AModelOfADynamicShapeServesTheShapesInItsRange) {
  SingleOp open = described("Relu", {-1, 2});
  open.inputs[0].shape_ranges = {{1, 8}, {2, 2}};
  open.outputs = open.inputs;
  OpModels models;
  ASSERT_TRUE(models.add(compiled(open), OpModels::Origin::loaded).ok());
  const auto found = models.find(described("Relu", {4, 2}));
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  const Shape shapes[] = {{1, 2}};
  const auto plan = (*found)->plan_for(shapes);
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  EXPECT_THAT(run_plan(**plan, {-1, 2}), ElementsAre(0, 2));
  EXPECT_FALSE(models.find(described("Relu", {9, 2})).ok());
}

TEST(OpModels, TheLimitDropsCompiledModelsThatWereUsedLongestAgo) {
  OpModels models;
  ASSERT_TRUE(models.add(compiled(described("Abs", {1})), OpModels::Origin::loaded).ok());
  models.set_limit(2);
  for (int64_t n : {1, 2}) ASSERT_TRUE(models.find_or_compile(described("Neg", {n})).ok());
  ASSERT_TRUE(models.find(described("Neg", {1})).ok());
  ASSERT_TRUE(models.find_or_compile(described("Neg", {3})).ok());
  EXPECT_TRUE(models.find(described("Neg", {1})).ok());
  EXPECT_FALSE(models.find(described("Neg", {2})).ok());
  EXPECT_TRUE(models.find(described("Abs", {1})).ok()) << "loaded models stay";
  models.set_limit(0);
  EXPECT_EQ(models.size(), 1u);
}

TEST(OpModels, AnOutputSizedByItsDataIsComputedAtOnce) {
  SingleOp op = described("NonZero", {2, 2});
  op.outputs[0] = op_tensor(DType::i64, {2, -1});
  const auto model = OpModel::load(compiled(op));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_TRUE((*model)->sized_by_values());
  float x[] = {0, 1, 1, 0};
  int64_t y[4] = {};
  const Buffer in[] = {{x, sizeof x}}, out[] = {{y, sizeof y}}, little[] = {{y, 8}};
  const Shape given[] = {{2, 2}};
  std::vector<Shape> shapes;
  const Status status = (*model)->run_values(in, given, out, shapes);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 2}}));
  EXPECT_THAT(y, ElementsAre(0, 1, 1, 0));
  const Status small = (*model)->run_values(in, given, little, shapes);
  EXPECT_EQ(small.code(), Code::shape_mismatch);
  EXPECT_THAT(small.message(), HasSubstr("has 32 bytes (2x2), its buffer has 8"));
}

TEST(OpModels, AModelThatDoesNotFitItsDescriptionIsRefused) {
  om::Model model = compiled(described("Relu", {2}));
  model.graph.outputs.push_back(model.graph.outputs[0]);
  EXPECT_EQ(OpModel::load(std::move(model)).status().code(), Code::corrupt_model);
}

}  // namespace
}  // namespace anynpu::exec
