// SPDX-License-Identifier: Apache-2.0
#include "compile/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

TEST(Precision, ModesOfBothOptions) {
  EXPECT_EQ(*parse_precision_mode("must_keep_origin_dtype"), PrecisionMode::origin);
  EXPECT_EQ(*parse_precision_mode("allow_mix_precision_bf16"), PrecisionMode::mixed_bfloat16);
  EXPECT_EQ(*parse_precision_mode_v2("cube_fp16in_fp32out"), PrecisionMode::cube_fp16);
  EXPECT_THAT(parse_precision_mode("fp8").status().message(), HasSubstr("force_fp16"));
  EXPECT_THAT(parse_precision_mode_v2("mixed_hif8").status().message(), HasSubstr("HIF8"));
}

MixList list_of_op(const Precision& precision, const char* op) {
  graph::Node node;
  node.op = op;
  node.opset = 13;
  return list_of(precision, node);
}

TEST(Precision, ListsFollowTheTraitsOfTheOperator) {
  EXPECT_EQ(list_of_op({}, "Conv"), MixList::white);
  EXPECT_EQ(list_of_op({}, "MatMul"), MixList::white);
  EXPECT_EQ(list_of_op({}, "Relu"), MixList::gray);
  EXPECT_EQ(list_of_op({}, "Exp"), MixList::black);
  EXPECT_EQ(list_of_op({}, "Cast"), MixList::black) << "fixed types are never changed";
  EXPECT_EQ(list_of_op({}, "NoSuchOperator"), MixList::black);
}

TEST(Precision, AMixListMovesOperatorsUnderEitherName) {
  Precision precision;
  ASSERT_TRUE(parse_mix_list(R"({"black-list":{"to-add":["Conv2D"]},
                                 "white-list":{"to-add":["Exp"]},
                                 "gray-list":{"to-remove":["Relu"]}})",
                             precision)
                  .ok());
  EXPECT_EQ(list_of_op(precision, "Conv"), MixList::black);
  EXPECT_EQ(list_of_op(precision, "Exp"), MixList::white);
  EXPECT_EQ(list_of_op(precision, "Relu"), MixList::gray);
}

TEST(Precision, MistakesInAMixListAreNamed) {
  const auto message = [](const char* text) {
    Precision precision;
    return parse_mix_list(text, precision).message();
  };
  EXPECT_THAT(message(R"({"red-list":{}})"), HasSubstr("red-list"));
  EXPECT_THAT(message(R"({"black-list":{"add":[]}})"), HasSubstr("\"add\""));
  EXPECT_THAT(message(R"({"black-list":{"to-add":"Conv"}})"), HasSubstr("list of operator names"));
}

TEST(Precision, KeptNodesAndOperatorsAreRead) {
  Precision precision;
  ASSERT_TRUE(parse_keep_dtype("# a comment\nlayer1\nOpType::MatMulV2\n", precision).ok());
  EXPECT_TRUE(precision.kept_nodes.contains("layer1"));
  EXPECT_TRUE(precision.kept_ops.contains("MatMul"));
  EXPECT_THAT(parse_keep_dtype("a\nOpType::", precision).message(), HasSubstr("line 2"));
}

TEST(Precision, TypesOfSingleOperatorsAreRead) {
  Precision precision;
  ASSERT_TRUE(parse_custom_dtypes("conv1::InputDtype:float16,OutputDtype:float16\n"
                                  "OpType::Exp::InputDtype:bfloat16",
                                  precision)
                  .ok());
  EXPECT_EQ(precision.type_of_node.at("conv1"), DType::f16);
  EXPECT_EQ(precision.type_of_op.at("Exp"), DType::bf16);
  EXPECT_TRUE(has_own_type(precision, "conv1", "Conv"));
  EXPECT_FALSE(has_own_type(precision, "conv2", "Conv"));
}

TEST(Precision, MistakesInTypesAreNamedWithTheirLine) {
  const auto message = [](const char* text) {
    Precision precision;
    return parse_custom_dtypes(text, precision).message();
  };
  EXPECT_THAT(message("conv1"), HasSubstr("line 1: 'conv1'"));
  EXPECT_THAT(message("a::InputDtype:int8"), HasSubstr("'int8'"));
  EXPECT_THAT(message("a::InputDtype:float16,OutputDtype:float32"), HasSubstr("one precision"));
}

}  // namespace
}  // namespace anynpu::compile
