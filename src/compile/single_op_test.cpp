// SPDX-License-Identifier: Apache-2.0
#include "compile/single_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op.h"

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

singleop::SingleOp relu_of(Shape shape) {
  singleop::SingleOp op;
  op.type = "Relu";
  op.inputs.resize(1);
  op.inputs[0].dtype = DType::f32;
  op.inputs[0].format = Format::nd;
  op.inputs[0].shape = std::move(shape);
  op.outputs = op.inputs;
  return op;
}

TEST(SingleOp, ADescriptionBecomesAModelThatRemembersIt) {
  const auto model = compile_single_op(relu_of({2, 3}), {});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->meta.name, "Relu");
  EXPECT_EQ(model->meta.outputs[0].size, 24u);
  const auto back = single_op_of(model->meta);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(singleop::key_of(*back), singleop::key_of(relu_of({2, 3})));
}

TEST(SingleOp, AnOperatorSizedByItsDataKeepsItsGraphOpen) {
  singleop::SingleOp op = relu_of({2, 3});
  op.type = "NonZero";
  op.outputs[0].dtype = DType::i64;
  op.outputs[0].shape = {2, -1};
  const auto model = compile_single_op(op, {});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->meta.inputs.size(), 1u);
  EXPECT_EQ(model->meta.outputs[0].size, 0u);
}

TEST(SingleOp, NamesNobodyKnowsAreRefused) {
  singleop::SingleOp op = relu_of({2});
  op.type = "Reluu";
  EXPECT_THAT(compile_single_op(op, {}).status().message(), HasSubstr("Reluu"));
}

TEST(SingleOp, AModelOfAnotherKindIsNone) {
  om::Meta meta;
  meta.name = "resnet";
  EXPECT_THAT(single_op_of(meta).status().message(), HasSubstr("'resnet'"));
}

}  // namespace
}  // namespace anynpu::compile
