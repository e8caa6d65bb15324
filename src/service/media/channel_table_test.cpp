// SPDX-License-Identifier: Apache-2.0
#include "service/media/channel_table.h"

#include <gtest/gtest.h>

namespace anynpu::media {
namespace {

struct DrainCounter {
  int drained = 0;
  void drain() { ++drained; }
};
Result<std::shared_ptr<DrainCounter>> make_counter() { return std::make_shared<DrainCounter>(); }

TEST(ChannelTable, numbers_have_a_limit_and_are_used_once) {
  ChannelTable<DrainCounter> table("TEST", 2);
  EXPECT_EQ(table.create(-1, make_counter).code(), Code::invalid_device);
  EXPECT_EQ(table.create(2, make_counter).code(), Code::invalid_device);
  EXPECT_TRUE(table.create(1, make_counter).ok());
  EXPECT_EQ(table.create(1, make_counter).code(), Code::already_exists);
  EXPECT_EQ(table.free_number(), 0);
  EXPECT_TRUE(table.create(0, make_counter).ok());
  EXPECT_EQ(table.free_number(), -1);
}

TEST(ChannelTable, a_removed_channel_is_drained_and_its_number_is_free) {
  ChannelTable<DrainCounter> table("TEST", 4);
  EXPECT_EQ(table.find(3).status().code(), Code::not_found);
  EXPECT_EQ(table.remove(3).status().code(), Code::not_found);
  ASSERT_TRUE(table.create(3, make_counter).ok());
  const auto removed = table.remove(3);
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ((*removed)->drained, 1);
  EXPECT_EQ(table.find(3).status().code(), Code::not_found);
  EXPECT_TRUE(table.create(3, make_counter).ok());
}

TEST(ChannelTable, what_cannot_be_made_leaves_the_number_free) {
  ChannelTable<DrainCounter> table("TEST", 4);
  const auto refuse = []() -> Result<std::shared_ptr<DrainCounter>> {
    return fail(Code::out_of_memory, "no");
  };
  EXPECT_EQ(table.create(0, refuse).code(), Code::out_of_memory);
  EXPECT_TRUE(table.create(0, make_counter).ok());
}

TEST(ChannelTable, removing_all_drains_each) {
  ChannelTable<DrainCounter> table("TEST", 4);
  ASSERT_TRUE(table.create(0, make_counter).ok());
  const auto kept = *table.find(0);
  table.remove_all();
  EXPECT_EQ(kept->drained, 1);
  EXPECT_EQ(table.find(0).status().code(), Code::not_found);
}

}  // namespace
}  // namespace anynpu::media
