// SPDX-License-Identifier: Apache-2.0
#include "service/model/dataset.h"

#include <gtest/gtest.h>

#include "service/model/data_buffer.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

TEST(DataBuffer, ANegativeSizeIsRefusedAndTheBufferStays) {
  int memory = 0;
  EXPECT_EQ(make_data_buffer(&memory, static_cast<size_t>(-4)).status().code(),
            Code::invalid_argument);
  const HandleForTest<DataBuffer> buffer(*make_data_buffer(&memory, 4));
  EXPECT_FALSE(update_data_buffer(buffer, nullptr, static_cast<size_t>(-1)).ok());
  EXPECT_EQ(read_data_buffer(buffer)->data, &memory);
  EXPECT_TRUE(update_data_buffer(buffer, nullptr, 0).ok());
  EXPECT_EQ(read_data_buffer(buffer)->size, 0u);
}

TEST(Dataset, TakesDataBuffersAndNothingElse) {
  int memory = 0;
  const OneBuffer one(&memory, sizeof memory);
  EXPECT_EQ(one->add(0).code(), Code::invalid_handle);
  EXPECT_EQ(one->add(one).code(), Code::invalid_handle);
  EXPECT_EQ(one->read()->buffers.size(), 1u);
  EXPECT_TRUE(one->buffer(0).ok());
  EXPECT_EQ(one->buffer(1).status().message(), "index is 1, the dataset has 1 buffers");
}

TEST(Dataset, AChoiceCountsForItsModelAndReplacesTheEarlierOne) {
  Dataset dataset;
  dataset.choose_gear({1, 0});
  dataset.choose_gear({2, 5});
  dataset.choose_gear({1, 3});
  EXPECT_EQ(dataset.read()->gear(1)->gear, 3u);
  EXPECT_EQ(dataset.read()->gear(2)->gear, 5u);
  EXPECT_EQ(dataset.read()->gear(3), nullptr);
  dataset.choose_aipp({1, 2, {1, 8, 8, 3}});
  dataset.choose_aipp({1, 2, {1, 4, 4, 3}});
  EXPECT_EQ(dataset.read()->picture(1, 2)->picture, (Shape{1, 4, 4, 3}));
  EXPECT_EQ(dataset.read()->picture(1, 1), nullptr);
  EXPECT_EQ(dataset.read()->aipp.size(), 1u);
}

TEST(Dataset, ADescriptionIsCopiedAndNeedsABuffer) {
  int memory = 0;
  const OneBuffer one(&memory, sizeof memory);
  TensorDesc desc;
  desc.shape = {2, 3};
  EXPECT_EQ(one->set_desc(1, desc).code(), Code::invalid_argument);
  ASSERT_TRUE(one->set_desc(0, desc).ok());
  desc.shape = {7};
  EXPECT_EQ(one->read()->desc(0)->desc->shape, (Shape{2, 3}));
}

TEST(Dataset, AHandleOfADescriptionLastsUntilItIsReplaced) {
  int memory = 0;
  const OneBuffer one(&memory, sizeof memory);
  EXPECT_EQ(one->desc_handle(0).status().code(), Code::invalid_argument);
  ASSERT_TRUE(one->set_desc(0, TensorDesc()).ok());
  const Handle first = *one->desc_handle(0);
  EXPECT_EQ(*one->desc_handle(0), first);
  ASSERT_TRUE(one->set_desc(0, TensorDesc()).ok());
  EXPECT_FALSE(resolve<TensorDesc>(first).ok());
  EXPECT_NE(*one->desc_handle(0), first);
}

TEST(Dataset, WhatAnExecutionFoundAgainKeepsItsHandle) {
  int memory = 0;
  const OneBuffer one(&memory, sizeof memory);
  om::TensorInfo info;
  info.name = "y";
  one->set_found_desc(0, info, DType::f32, {2});
  const Handle first = *one->desc_handle(0);
  one->set_found_desc(0, info, DType::f32, {2});
  EXPECT_EQ(*one->desc_handle(0), first);
  one->set_found_desc(0, info, DType::f32, {3});
  EXPECT_FALSE(resolve<TensorDesc>(first).ok());
}

}  // namespace
}  // namespace anynpu::service
