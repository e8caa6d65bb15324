// SPDX-License-Identifier: Apache-2.0
#include "service/op/op_infer.h"

#include <gtest/gtest.h>

#include "service/op/op_for_test.h"

namespace anynpu::service {
namespace {

class OpInferTest : public ServiceTest {};

TensorDesc nothing_known() {
  TensorDesc desc = floats({-2});
  desc.dtype = DType::undefined;
  desc.format = Format::undefined;
  return desc;
}

TEST_F(OpInferTest, DescriptionsAreEnoughForMostOperators) {
  OpForTest call("Add");
  call.in(floats({4, 1})).in(floats({3})).out(nothing_known());
  const Status status = infer_shapes(call.arguments(), nullptr);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(call.output_descs[0].shape, (Shape{4, 3}));
  EXPECT_EQ(call.output_descs[0].dtype, DType::f32);
}

TEST_F(OpInferTest, ValuesOfSmallIntegersDecideShapes) {
  std::array<int64_t, 2> target{2, 6};
  TensorDesc list = floats({2});
  list.dtype = DType::i64;
  OpForTest call("Reshape");
  call.in(floats({3, 4})).in(list, target.data(), sizeof target).out(nothing_known());
  const Status status = infer_shapes(call.arguments(), call.input_buffers.data());
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(call.output_descs[0].shape, (Shape{2, 6}));
}

TEST_F(OpInferTest, ShapesThatDoNotFitAreTheFaultOfTheInputs) {
  OpForTest call("Add");
  call.in(floats({4})).in(floats({3})).out(nothing_known());
  EXPECT_EQ(infer_shapes(call.arguments(), nullptr).code(), Code::op_input_mismatch);
}

}  // namespace
}  // namespace anynpu::service
