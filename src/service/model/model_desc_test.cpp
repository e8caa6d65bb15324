// SPDX-License-Identifier: Apache-2.0
#include "service/model/model_desc.h"

#include <gtest/gtest.h>

#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

class ModelDescTest : public ServiceTest {
 protected:
  ModelDesc desc_;
};

TEST_F(ModelDescTest, AnEmptyDescriptionSaysWhatToCallFirst) {
  EXPECT_EQ(desc_.count(TensorSide::input).status().code(), Code::bad_call_order);
  EXPECT_EQ(desc_.tensor(TensorSide::output, 0).status().code(), Code::bad_call_order);
  EXPECT_EQ(desc_.fill(1).code(), Code::model_not_found);
}

TEST_F(ModelDescTest, TensorsAreFoundByIndexAndByName) {
  ASSERT_TRUE(desc_.fill(load_for_test(compile_relu({2, 3}))).ok());
  EXPECT_EQ(*desc_.count(TensorSide::input), 1u);
  EXPECT_EQ(desc_.tensor(TensorSide::input, 0)->info->shape, (Shape{2, 3}));
  EXPECT_EQ(desc_.tensor(TensorSide::input, 1).status().code(), Code::invalid_argument);
  const std::string output = desc_.tensor(TensorSide::output, 0)->info->name;
  EXPECT_EQ(*desc_.index_of(TensorSide::input, "x"), 0u);
  EXPECT_EQ(*desc_.index_of(TensorSide::output, output), 0u);
  EXPECT_EQ(desc_.index_of(TensorSide::input, "z").status().code(), Code::invalid_argument);
  EXPECT_STREQ(*desc_.real_name("x"), "x");
  EXPECT_FALSE(desc_.real_name("z").ok());
}

TEST_F(ModelDescTest, ALongNameHasAShortFormThatIsFoundToo) {
  om::Model model = compile_relu();
  model.meta.inputs[0].name = std::string(kLongestTensorName + 1, 'n');
  const uint32_t id = load_for_test(model);
  ASSERT_TRUE(desc_.fill(id).ok());
  const std::string short_name = desc_.tensor(TensorSide::input, 0)->short_name();
  EXPECT_EQ(short_name, format("acl_modelId_{}_input_0", id));
  EXPECT_EQ(*desc_.real_name(short_name), model.meta.inputs[0].name);
}

TEST_F(ModelDescTest, ReadsFilesInMemoryWithoutLoadingThem) {
  const auto bytes = om::to_bytes(compile_relu());
  ASSERT_TRUE(desc_.fill_from_memory(bytes->data(), bytes->size()).ok());
  EXPECT_EQ(*desc_.count(TensorSide::output), 1u);
  EXPECT_FALSE(desc_.fill_from_memory(bytes->data(), 0).ok());
  EXPECT_FALSE(desc_.fill_from_file("/no/such.om").ok());
}

TEST_F(ModelDescTest, OneAttributeOfOperatorsIsKnown) {
  ASSERT_TRUE(desc_.fill(load_for_test(compile_relu())).ok());
  EXPECT_EQ(desc_.op_attribute("Relu", "other").status().code(), Code::invalid_argument);
  EXPECT_EQ(desc_.op_attribute("none", kOriginalNamesAttribute).status().code(),
            Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
