// SPDX-License-Identifier: Apache-2.0
#include "exec/shaped_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/compile.h"
#include "exec/graph_for_test.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;
using testing::HasSubstr;

// y = x times a matrix of [4, 4], x of [rows, 4]; what `options` says about the rows.
std::shared_ptr<const om::Model> rows_model(int64_t rows, const compile::Options& options = {}) {
  NetBuilder b;
  const ValueId x = b.input("x", {rows, 4});
  std::vector<float> twice(16, 0);
  for (size_t i = 0; i < 4; ++i) twice[i * 5] = 2;
  b.output(b.node("MatMul", {x, b.floats(twice, {4, 4})}));
  auto compiled = compile::compile(std::move(b.graph), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().to_string();
  return std::make_shared<const om::Model>(std::move(*compiled));
}
std::shared_ptr<const om::Model> ranged_model() {
  compile::Options options;
  options.input_shapes = compile::parse_input_shapes("x:2~100,4").value();
  return rows_model(-1, options);
}
std::shared_ptr<const om::Model> geared_model() {
  compile::Options options;
  options.input_shapes = compile::parse_input_shapes("x:-1,4").value();
  options.gears = compile::parse_gears("2,8,4", "", "").value();
  return rows_model(-1, options);
}

void expect_doubled(LoadedModel& model, size_t rows) {
  std::vector<float> x = draw(rows * 4), y(rows * 4), expected;
  for (float value : x) expected.push_back(2 * value);
  const Buffer in[] = {{x.data(), x.size() * 4}}, out[] = {{y.data(), y.size() * 4}};
  const Status status = model.run(in, out);
  ASSERT_TRUE(status.ok()) << status.to_string();
  expect_near(y, expected);
}

TEST(ShapedModel, OneOfFixedShapesHasOnePlan) {
  const auto shaped = ShapedModel::load(rows_model(3));
  ASSERT_TRUE(shaped.ok()) << shaped.status().to_string();
  EXPECT_FALSE((*shaped)->has_ranges());
  EXPECT_EQ((*shaped)->largest_gear(), 0u);
  expect_doubled(*(*shaped)->only(), 3);
  const auto asked = ShapedModel::query(*rows_model(3));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->weight_bytes, (*shaped)->sizes().weight_bytes);
  EXPECT_EQ(asked->work_bytes, (*shaped)->sizes().work_bytes);
}

TEST(ShapedModel, GearsShareTheirWeightsAndTheLargestIsTheDefault) {
  const auto model = geared_model();
  const auto shaped = ShapedModel::load(model);
  ASSERT_TRUE(shaped.ok()) << shaped.status().to_string();
  EXPECT_EQ((*shaped)->largest_gear(), 1u);
  const size_t rows[] = {2, 8, 4};
  for (size_t i = 0; i < 3; ++i) expect_doubled((*shaped)->gear(i), rows[i]);
  const auto asked = ShapedModel::query(*model);
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->weight_bytes, (*shaped)->sizes().weight_bytes);
  EXPECT_EQ(asked->weight_bytes, ShapedModel::query(*rows_model(8))->weight_bytes);
}

TEST(ShapedModel, ShapesInARangeGetAPlanThatIsUsedAgain) {
  const auto loaded = ShapedModel::load(ranged_model());
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  ShapedModel& shaped = **loaded;
  EXPECT_TRUE(shaped.has_ranges());
  const Shape three[] = {{3, 4}}, five[] = {{5, 4}};
  const auto first = shaped.for_shapes(three);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  expect_doubled(**first, 3);
  expect_doubled(*shaped.for_shapes(five).value(), 5);
  EXPECT_EQ(shaped.for_shapes(three).value(), *first);
}

TEST(ShapedModel, ThePlanUsedLongestAgoIsDropped) {
  const auto loaded = ShapedModel::load(ranged_model());
  ASSERT_TRUE(loaded.ok());
  ShapedModel& shaped = **loaded;
  const auto plan = [&](int64_t rows) {
    const Shape shape[] = {{rows, 4}};
    return shaped.for_shapes(shape).value();
  };
  std::weak_ptr<LoadedModel> first = plan(2), second = plan(3);
  for (size_t i = 2; i < ShapedModel::kMostPlans; ++i) plan(static_cast<int64_t>(i) + 2);
  EXPECT_EQ(plan(2), first.lock()) << "still there, and now the last one used";
  plan(50);
  EXPECT_TRUE(second.expired());
  EXPECT_FALSE(first.expired());
}

TEST(ShapedModel, ShapesOutsideTheRangeAreRefusedWithIt) {
  const auto loaded = ShapedModel::load(ranged_model());
  ASSERT_TRUE(loaded.ok());
  const Shape above[] = {{101, 4}}, rank[] = {{3}}, inside[] = {{100, 4}};
  for (const auto* shapes : {above, rank}) {
    const Status status = (*loaded)->for_shapes({shapes, 1}).status();
    EXPECT_EQ(status.code(), Code::unsupported_shape);
    EXPECT_THAT(status.message(), HasSubstr("[2~100,4~4]"));
    EXPECT_EQ((*loaded)->check_shapes({shapes, 1}).code(), Code::unsupported_shape);
  }
  EXPECT_TRUE((*loaded)->check_shapes(inside).ok());
}

TEST(ShapedModel, MemoryOfTheCallerNeedsKnownShapes) {
  alignas(64) static std::byte memory[64];
  const auto model = ranged_model();
  LoadOptions options;
  options.work_memory = memory;
  options.work_bytes = sizeof memory;
  EXPECT_EQ(ShapedModel::load(model, options).status().code(), Code::unsupported_shape);
  EXPECT_EQ(ShapedModel::query(*model).status().code(), Code::unsupported_shape);
  EXPECT_FALSE(ShapedModel::load(model).value()->shares_work());
}

}  // namespace
}  // namespace anynpu::exec
