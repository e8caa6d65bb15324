// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queue_buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "service/finalize.h"

namespace anynpu::service {
namespace {

void* make_buffer(const std::string& text) {
  void* buffer = allocate_queue_buffer(text.size(), 0).value();
  std::memcpy(view_queue_buffer(buffer)->data, text.data(), text.size());
  EXPECT_EQ(view_queue_buffer(buffer)->length, 0u) << "nothing counts until it is set";
  EXPECT_TRUE(set_queue_buffer_length(buffer, text.size()).ok());
  return buffer;
}

TEST(QueueBuffers, TheHeadOwnsItsChain) {
  void* head = make_buffer("head");
  void* other = make_buffer("tail");
  EXPECT_EQ(append_to_chain(head, head).code(), Code::invalid_argument);
  EXPECT_TRUE(append_to_chain(head, other).ok());
  EXPECT_EQ(view_queue_buffer(head)->in_chain, 2u);
  void* found = find_in_chain(head, 1).value();
  EXPECT_EQ(found, other) << "the program still has it";
  EXPECT_TRUE(set_queue_buffer_length(other, 2).ok());
  EXPECT_EQ(append_to_chain(head, other).code(), Code::invalid_argument) << "it is in one already";
  EXPECT_EQ(take_in(found).status().code(), Code::invalid_argument);
  EXPECT_EQ(find_in_chain(head, 2).status().code(), Code::invalid_argument);
  EXPECT_TRUE(take_in(head).ok());
  EXPECT_EQ(view_queue_buffer(found).status().code(), Code::invalid_handle);
}

TEST(QueueBuffers, AChainHasAtMost128Buffers) {
  void* head = make_buffer("head");
  for (int i = 1; i < 128; ++i) EXPECT_TRUE(append_to_chain(head, make_buffer("x")).ok());
  void* last = make_buffer("one too many");
  EXPECT_EQ(append_to_chain(head, last).code(), Code::invalid_argument);
  EXPECT_TRUE(take_in(last).ok());
  EXPECT_TRUE(take_in(head).ok());
}

TEST(QueueBuffers, LengthAndUserDataStayInside) {
  void* buffer = make_buffer("12345");
  EXPECT_EQ(set_queue_buffer_length(buffer, 6).code(), Code::invalid_argument);
  EXPECT_TRUE(set_queue_buffer_length(buffer, 2).ok());
  void* copy = copy_buffer_reference(buffer).value();
  EXPECT_EQ(view_queue_buffer(copy)->length, 2u);
  EXPECT_EQ(view_queue_buffer(copy)->data, view_queue_buffer(buffer)->data);
  const int frame = 7;
  int read = 0;
  EXPECT_TRUE(write_user_data(buffer, &frame, sizeof frame, 92).ok());
  EXPECT_EQ(write_user_data(buffer, &frame, sizeof frame, 93).code(), Code::invalid_argument);
  EXPECT_TRUE(read_user_data(buffer, &read, sizeof read, 92).ok());
  EXPECT_EQ(read, 7);
  EXPECT_TRUE(take_in(buffer).ok());
  EXPECT_TRUE(take_in(copy).ok());
  EXPECT_EQ(allocate_queue_buffer(0, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(allocate_queue_buffer(8, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(allocate_queue_buffer((size_t{4} << 30) + 1, 0).status().code(),
            Code::invalid_argument);
}

TEST(QueueBuffers, AnAppendedBufferIsTheProgramsNoMore) {
  void* head = make_buffer("head");
  void* other = make_buffer("tail");
  ASSERT_TRUE(append_to_chain(head, other).ok());
  EXPECT_FALSE(append_to_chain(head, other).ok()) << "a second time";
  void* second = make_buffer("next");
  EXPECT_FALSE(append_to_chain(second, find_in_chain(head, 1).value()).ok()) << "of another chain";
  EXPECT_TRUE(take_in(head).ok());
  EXPECT_TRUE(take_in(second).ok());
}

TEST(QueueBuffers, WhatDidNotGoIntoAQueueIsPutBackUnderItsNumber) {
  void* head = make_buffer("head");
  ASSERT_TRUE(append_to_chain(head, make_buffer("tail")).ok());
  void* const second = find_in_chain(head, 1).value();
  auto held = take_in(head);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(view_queue_buffer(head).status().code(), Code::invalid_handle);
  put_back(head, std::move(*held));
  EXPECT_EQ(view_queue_buffer(head)->in_chain, 2u);
  EXPECT_EQ(find_in_chain(head, 1).value(), second);
  EXPECT_TRUE(take_in(head).ok());
}

TEST(QueueBuffers, NumbersNeverComeAgainAndFinalisingForgetsAll) {
  void* first = make_buffer("1");
  ASSERT_TRUE(take_in(first).ok());
  void* second = make_buffer("2");
  EXPECT_NE(first, second);
  run_finalizers();
  EXPECT_EQ(view_queue_buffer(second).status().code(), Code::invalid_handle);
  void* third = hand_out(*device::QueueBuffer::create(8));
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
  EXPECT_TRUE(take_in(third).ok());
}

}  // namespace
}  // namespace anynpu::service
