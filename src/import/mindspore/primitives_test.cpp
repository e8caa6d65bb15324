// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/primitives.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "import/mindspore/model_for_test.h"
#include "import/singleop/table.h"

namespace anynpu::mindspore {
namespace {

TEST(PrimitivesTest, every_operator_of_the_table_has_a_vendor_name) {
  for (const PrimitiveRow& row : primitive_rows()) {
    for (const std::string& name : split_words(row.becomes, ','))
      EXPECT_TRUE(singleop::find_vendor_op(trim(name))) << row.name << " becomes " << name;
    EXPECT_EQ(row.operands.empty(), row.rule != nullptr) << row.name;
    EXPECT_EQ(find_primitive(row.name), &row) << row.name << " is there twice";
  }
  EXPECT_EQ(find_primitive("NoSuch"), nullptr);
}

TEST(PrimitivesTest, arguments_become_attributes_wherever_the_file_has_them) {
  MindirText as_arguments({2, 3});
  as_arguments.node("MatMul",
                    {"net:x", as_arguments.parameter("net:w", {4, 3}, std::vector<float>(12)),
                     as_arguments.constant("a", whole_value(0, kFlag)),
                     as_arguments.constant("b", whole_value(1, kFlag))});
  EXPECT_EQ(import_net(as_arguments).shape, (Shape{2, 4}));
  MindirText as_attributes({2, 3});
  WireWriter transpose = whole_value(1, kFlag);
  WireWriter named;
  named.text(1, "transpose_b");
  named.integer(3, 1);
  named.integer(16, kFlag);
  as_attributes.node("MatMul",
                     {"net:x", as_attributes.parameter("net:w", {4, 3}, std::vector<float>(12))},
                     {named});
  EXPECT_EQ(import_net(as_attributes).shape, (Shape{2, 4}));
}

TEST(PrimitivesTest, a_number_takes_the_type_of_the_tensor) {
  MindirText net({2});
  net.node("Muls", {"net:x", net.constant("two", whole_value(2))});
  EXPECT_EQ(import_net(net).dtype, DType::f32);
}

}  // namespace
}  // namespace anynpu::mindspore
