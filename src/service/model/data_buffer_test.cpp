// SPDX-License-Identifier: Apache-2.0
#include "service/model/data_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

TEST(DataBufferService, HoldsAnAddressAndASizeAndReadsNothing) {
  const auto nowhere = reinterpret_cast<void*>(uintptr_t{8});  // not memory at all
  const HandleForTest<DataBuffer> buffer(make_data_buffer(nowhere, 16).value());
  const auto read = read_data_buffer(buffer);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->data, nowhere);
  EXPECT_EQ(read->size, 16u);
}

TEST(DataBufferService, IsChangedInPlace) {
  int number = 0;
  const HandleForTest<DataBuffer> buffer(make_data_buffer(nullptr, 0).value());
  ASSERT_TRUE(update_data_buffer(buffer, &number, sizeof number).ok());
  EXPECT_EQ(read_data_buffer(buffer)->data, &number);
  EXPECT_EQ(read_data_buffer(buffer)->size, sizeof number);
}

TEST(DataBufferService, RefusesSizesThatNoMemoryHas) {
  int number = 0;
  const auto minus_one = static_cast<size_t>(-1);
  EXPECT_EQ(make_data_buffer(&number, minus_one).status().code(), Code::invalid_argument);
  const HandleForTest<DataBuffer> buffer(make_data_buffer(&number, sizeof number).value());
  EXPECT_EQ(update_data_buffer(buffer, &number, minus_one).code(), Code::invalid_argument);
  EXPECT_EQ(read_data_buffer(buffer)->size, sizeof number) << "nothing changed";
}

TEST(DataBufferService, OtherHandlesAreNamed) {
  const HandleForTest<Dataset> dataset(std::make_shared<Dataset>());
  EXPECT_EQ(read_data_buffer(0).status().code(), Code::invalid_handle);
  EXPECT_EQ(read_data_buffer(dataset).status().code(), Code::invalid_handle);
  EXPECT_EQ(update_data_buffer(dataset, nullptr, 0).code(), Code::invalid_handle);
}

}  // namespace
}  // namespace anynpu::service
