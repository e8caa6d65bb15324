// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queue_attributes.h"

#include <gtest/gtest.h>

#include "service/finalize.h"

namespace anynpu::service {
namespace {

TEST(QueueAttributes, AreReadBackAndRefuseOtherSizesAndValues) {
  void* attributes = create_queue_attributes();
  const char *name = "frames", *read_name = nullptr;
  EXPECT_TRUE(set_queue_attribute(attributes, QueueAttribute::name, sizeof name, &name).ok());
  EXPECT_TRUE(
      get_queue_attribute(attributes, QueueAttribute::name, sizeof read_name, &read_name).ok());
  EXPECT_STREQ(read_name, "frames");
  const uint32_t zero = 0;
  EXPECT_EQ(set_queue_attribute(attributes, QueueAttribute::depth, 4, &zero).code(),
            Code::invalid_argument);
  EXPECT_EQ(set_queue_attribute(attributes, QueueAttribute::depth, 8, &zero).code(),
            Code::invalid_argument);
  EXPECT_EQ(set_queue_attribute(attributes, static_cast<QueueAttribute>(2), 4, &zero).code(),
            Code::invalid_argument);
  EXPECT_EQ(queue_options(attributes)->depth, 2u);
  EXPECT_TRUE(destroy_queue_attributes(attributes).ok());
  EXPECT_EQ(queue_options(attributes).status().code(), Code::invalid_handle);
}

TEST(QueueAttributes, BecomeTheOptionsOfAQueue) {
  void* attributes = create_queue_attributes();
  const uint32_t depth = 7;
  const char* name = "frames";
  EXPECT_TRUE(set_queue_attribute(attributes, QueueAttribute::depth, sizeof depth, &depth).ok());
  EXPECT_TRUE(set_queue_attribute(attributes, QueueAttribute::name, sizeof name, &name).ok());
  const auto options = queue_options(attributes);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->depth, 7u);
  EXPECT_EQ(options->name, "frames");
  uint32_t read = 0;
  EXPECT_TRUE(get_queue_attribute(attributes, QueueAttribute::depth, sizeof read, &read).ok());
  EXPECT_EQ(read, 7u);
  EXPECT_TRUE(destroy_queue_attributes(attributes).ok());
  EXPECT_EQ(destroy_queue_attributes(attributes).code(), Code::invalid_handle);
}

TEST(QueueAttributes, ValuesThatAreNotThereAreRefused) {
  void* attributes = create_queue_attributes();
  const char* no_name = nullptr;
  EXPECT_FALSE(
      set_queue_attribute(attributes, QueueAttribute::name, sizeof no_name, &no_name).ok());
  EXPECT_FALSE(set_queue_attribute(attributes, QueueAttribute::depth, 4, nullptr).ok());
  EXPECT_FALSE(get_queue_attribute(attributes, QueueAttribute::depth, 4, nullptr).ok());
  EXPECT_FALSE(set_queue_attribute(nullptr, QueueAttribute::depth, 4, &no_name).ok());
  EXPECT_TRUE(destroy_queue_attributes(attributes).ok());
}

}  // namespace
}  // namespace anynpu::service
