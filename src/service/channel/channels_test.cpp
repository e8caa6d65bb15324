// SPDX-License-Identifier: Apache-2.0
#include "service/channel/channels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "service/channel/tensor_set.h"

namespace anynpu::service {
namespace {

Handle new_set() { return HandleTable::instance().insert(std::make_shared<TensorSet>()); }

template <typename T>
bool ended(Handle handle) {
  return HandleTable::instance().remove<T>(handle) != nullptr;
}

Handle set_of(Handle item) {
  Handle set = new_set();
  EXPECT_TRUE(add_tensor_item(set, item).ok());
  return set;
}

TEST(Channels, WhatIsSentIsCopiedAndComesOutAsItWent) {
  Handle channel = create_channel(0, "copied", 2).value();
  float values[] = {1, 2, 3, 4};
  const int64_t dims[] = {2, 2};
  Handle item = create_tensor_item(0, dims, 0, values, sizeof values).value();
  Handle set = set_of(item);
  EXPECT_TRUE(send_set(channel, set, 0).ok());
  values[0] = 9;
  EXPECT_EQ(*sets_in_channel(channel), 1u);
  Handle out = new_set();
  EXPECT_TRUE(receive_set(channel, out, 0).ok());
  EXPECT_EQ(*sets_in_channel(channel), 0u);
  EXPECT_STREQ(*tensor_set_name(out), "copied");
  const auto got = tensor_item(*item_of_set(out, 0)).value();
  EXPECT_EQ(got->dims, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(static_cast<const float*>(got->data.get())[0], 1);
  EXPECT_TRUE(destroy_channel(channel).ok());
  EXPECT_TRUE(ended<TensorSet>(out));
  EXPECT_TRUE(ended<TensorItem>(item));
  EXPECT_TRUE(ended<TensorSet>(set));
}

TEST(Channels, FullAndEmptyAreCausesOfTheirOwn) {
  Handle channel = create_channel(0, "full", 2).value();
  Handle item = create_tensor_item(1, {}, 0, nullptr, 0).value();
  Handle set = set_of(item);
  Handle out = new_set();
  EXPECT_EQ(receive_set(channel, out, 0).code(), Code::queue_empty);
  EXPECT_TRUE(send_set(channel, set, 0).ok());
  EXPECT_TRUE(send_set(channel, set, 0).ok());
  EXPECT_EQ(send_set(channel, set, 1).code(), Code::queue_full);
  EXPECT_TRUE(clean_channel(channel).ok());
  EXPECT_EQ(*sets_in_channel(channel), 0u);
  EXPECT_EQ(send_set(channel, set, -2).code(), Code::invalid_argument);
  EXPECT_EQ(receive_set(channel, set, 0).code(), Code::bad_call_order) << "has the program's items";
  EXPECT_TRUE(destroy_channel(channel).ok());
  EXPECT_EQ(destroy_channel(channel).code(), Code::invalid_handle);
  for (Handle each : {set, out}) EXPECT_TRUE(ended<TensorSet>(each));
  EXPECT_TRUE(ended<TensorItem>(item));
}

TEST(Channels, StoppingWakesAReceiver) {
  Handle channel = create_channel(0, "stopped", 2).value();
  Handle out = new_set();
  Status status;
  std::thread receiver([&] { status = receive_set(channel, out, -1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(stop_channel(channel).ok());
  receiver.join();
  EXPECT_EQ(status.code(), Code::bad_call_order);
  EXPECT_EQ(receive_set(channel, out, 0).code(), Code::bad_call_order);
  EXPECT_TRUE(destroy_channel(channel).ok());
  EXPECT_TRUE(ended<TensorSet>(out));
}

TEST(Channels, NamesAreUniqueAndCapacitiesBounded) {
  EXPECT_EQ(create_channel(0, "x", 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_channel(0, "x", 8193).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_channel(0, "", 2).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_channel(0, nullptr, 2).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_channel(99, "x", 2).status().code(), Code::invalid_device);
  Handle channel = create_channel(0, "x", 2).value();
  EXPECT_EQ(create_channel(0, "x", 2).status().code(), Code::already_exists);
  EXPECT_TRUE(destroy_channel(channel).ok());
}

}  // namespace
}  // namespace anynpu::service
