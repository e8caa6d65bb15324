// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op.h"
#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAdd = R"([{"op": "Add", "name": "sum",
  "input_desc": [{"format": "ND", "shape": [2, 3], "type": "float16"},
                 {"format": "ND", "shape": [1], "type": "float16", "is_const": true,
                  "const_value": [2]}],
  "output_desc": [{"format": "ND", "shape": [2, 3], "type": "float16"}],
  "attr": [{"name": "n", "type": "int", "value": 3}]}])";

TEST(SingleOpJson, AFileHoldsDescriptions) {
  const auto ops = parse_file_text(kAdd, "ops.json");
  ASSERT_TRUE(ops.ok()) << ops.status().to_string();
  ASSERT_EQ(ops->size(), 1u);
  const SingleOp& op = (*ops)[0];
  EXPECT_EQ(op.type, "Add");
  EXPECT_EQ(op.name, "sum");
  EXPECT_EQ(op.inputs[0].dtype, DType::f16);
  EXPECT_TRUE(op.inputs[1].is_constant);
  EXPECT_EQ(std::get<int64_t>(op.attrs.at("n")), 3);
}

TEST(SingleOpJson, WhatIsWrittenReadsTheSame) {
  const auto ops = parse_file_text(kAdd, "ops.json");
  ASSERT_TRUE(ops.ok());
  const auto back = from_json(to_json((*ops)[0]), "text");
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(key_of(*back), key_of((*ops)[0]));
}

TEST(SingleOpJson, MistakesAreNamed) {
  const auto message = [](const std::string& desc) {
    const std::string text =
        R"([{"op": "Relu", "input_desc": [)" + desc + R"(], "output_desc": []}])";
    return parse_file_text(text, "ops.json").status().to_string();
  };
  EXPECT_THAT(message(R"({"format": "ND", "shape": [2], "type": "float17"})"),
              HasSubstr("'float17'"));
  EXPECT_THAT(message(R"({"format": "NX", "shape": [2], "type": "float"})"), HasSubstr("'NX'"));
  EXPECT_THAT(message(R"({"format": "ND", "type": "float"})"), HasSubstr("'shape' is missing"));
  EXPECT_THAT(message(R"({"format": "ND", "shape": [2], "type": "int32", "is_const": true,
                          "const_value": [1]})"),
              HasSubstr("const_value has 1 elements"));
  EXPECT_THAT(message("3"), HasSubstr("expected an object"));
}

}  // namespace
}  // namespace anynpu::singleop
