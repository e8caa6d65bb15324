// SPDX-License-Identifier: Apache-2.0
#include "exec/run_value.h"

#include <gtest/gtest.h>

#include <numeric>

namespace anynpu::exec {
namespace {

RunValue counted(const Shape& shape) {
  RunValue value;
  EXPECT_TRUE(make_tensor(DType::f32, shape, value).ok());
  auto* at = reinterpret_cast<float*>(value.data.get());
  std::iota(at, at + element_count(shape), 0.0f);
  return value;
}

std::vector<float> elements_of(const RunValue& value) {
  const auto* at = reinterpret_cast<const float*>(value.data.get());
  return {at, at + element_count(value.shape)};
}

TEST(RunValue, ATensorHasMemoryForItsElements) {
  RunValue value;
  ASSERT_TRUE(make_tensor(DType::f16, {3, 5}, value).ok());
  EXPECT_TRUE(value.is_tensor());
  EXPECT_EQ(value.bytes(), 30u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(value.data.get()) % 64, 0u);
}

TEST(RunValue, NoTensorOfUnknownOrImpossibleSizeIsMade) {
  RunValue value;
  EXPECT_FALSE(make_tensor(DType::f32, {3, -1}, value).ok());
  EXPECT_FALSE(make_tensor(DType::f32, {int64_t{1} << 50}, value).ok());
}

TEST(RunValue, ASliceLosesItsAxisAndAPieceKeepsIt) {
  const RunValue value = counted({2, 3, 2});
  RunValue out;
  ASSERT_TRUE(slice_of(value, 1, 2, out).ok());
  EXPECT_EQ(out.shape, (Shape{2, 2}));
  EXPECT_EQ(elements_of(out), (std::vector<float>{4, 5, 10, 11}));
  ASSERT_TRUE(piece_of(value, 1, 1, 2, out).ok());
  EXPECT_EQ(out.shape, (Shape{2, 2, 2}));
  EXPECT_EQ(elements_of(out), (std::vector<float>{2, 3, 4, 5, 8, 9, 10, 11}));
}

TEST(RunValue, PartsAreJoinedAlongAnAxisOrANewOne) {
  const std::vector<RunValue> parts = {counted({1, 2}), counted({2, 2})};
  RunValue out;
  ASSERT_TRUE(join_tensors(parts, 0, false, out).ok());
  EXPECT_EQ(out.shape, (Shape{3, 2}));
  EXPECT_EQ(elements_of(out), (std::vector<float>{0, 1, 0, 1, 2, 3}));
  const std::vector<RunValue> alike = {counted({2}), counted({2})};
  ASSERT_TRUE(join_tensors(alike, 1, true, out).ok());
  EXPECT_EQ(out.shape, (Shape{2, 2}));
  EXPECT_EQ(elements_of(out), (std::vector<float>{0, 0, 1, 1}));
}

TEST(RunValue, AListKeepsItsOrderAndCanBeReversed) {
  const auto items = take_items();
  for (int64_t i = 1; i <= 3; ++i) items->add() = counted({i});
  ASSERT_EQ(items->size(), 3u);
  items->reverse();
  EXPECT_EQ((*items)[0].shape, (Shape{3}));
  items->clear();
  EXPECT_EQ(items->size(), 0u);
}

TEST(RunValue, AScalarIsOneNumberAndNothingElse) {
  const int64_t number = 7;
  graph::Node node;
  node.op = "Loop";
  node.name = "loop1";
  EXPECT_EQ(*read_scalar(RunValue::borrow(DType::i64, {}, &number), node, "trip count"), 7);
  EXPECT_EQ(*read_scalar(RunValue::borrow(DType::i64, {1}, &number), node, "trip count"), 7);
  const auto none = read_scalar(RunValue::borrow(DType::i64, {0}, &number), node, "trip count");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("trip count"), std::string::npos)
      << none.status().message();
}

}  // namespace
}  // namespace anynpu::exec
