// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queues.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "service/finalize.h"
#include "service/queue/queue_attributes.h"
#include "service/queue/queue_buffers.h"

namespace anynpu::service {
namespace {

uint32_t make_queue(uint32_t depth) {
  void* attributes = create_queue_attributes();
  EXPECT_TRUE(set_queue_attribute(attributes, QueueAttribute::depth, sizeof depth, &depth).ok());
  const uint32_t id = create_queue(attributes).value();
  EXPECT_TRUE(destroy_queue_attributes(attributes).ok());
  return id;
}

void* make_buffer(const std::string& text) {
  void* buffer = allocate_queue_buffer(text.size(), 0).value();
  std::memcpy(view_queue_buffer(buffer)->data, text.data(), text.size());
  EXPECT_EQ(view_queue_buffer(buffer)->length, 0u);
  EXPECT_TRUE(set_queue_buffer_length(buffer, text.size()).ok());
  return buffer;
}

TEST(Queues, FullEmptyAndUnknownAreCausesOfTheirOwn) {
  const uint32_t id = make_queue(1);
  EXPECT_EQ(dequeue(id, 0).status().code(), Code::queue_empty);
  void* first = make_buffer("one");
  void* second = make_buffer("two");
  EXPECT_TRUE(enqueue(id, first, 0).ok());
  EXPECT_EQ(enqueue(id, second, 1).code(), Code::queue_full);
  EXPECT_TRUE(view_queue_buffer(second).ok()) << "the program still has what did not go in";
  EXPECT_EQ(view_queue_buffer(first).status().code(), Code::invalid_handle) << "the queue's now";
  EXPECT_EQ(enqueue(id, second, -2).code(), Code::invalid_argument);
  EXPECT_TRUE(destroy_queue(id).ok());
  EXPECT_EQ(destroy_queue(id).code(), Code::unknown_queue);
  EXPECT_EQ(dequeue(id, -1).status().code(), Code::unknown_queue);
  EXPECT_TRUE(take_in(second).ok());
}

TEST(Queues, DataIsCopiedInAndOutWithItsUserData) {
  const uint32_t id = make_queue(2);
  const char user[4] = "abc";
  EXPECT_TRUE(enqueue_data(id, {"12345", 5, user, sizeof user}, 0).ok());
  char data[8] = {}, out[4] = {};
  EXPECT_EQ(dequeue_data(id, {data, 4, nullptr, 0}, 0).status().code(), Code::invalid_argument)
      << "does not fit and stays";
  EXPECT_EQ(dequeue_data(id, {data, 8, out, sizeof out}, 0).value(), 5u);
  EXPECT_STREQ(data, "12345");
  EXPECT_STREQ(out, "abc");
  EXPECT_EQ(enqueue_data(id, {"1", 1, user, 97}, 0).code(), Code::invalid_argument);
  EXPECT_TRUE(destroy_queue(id).ok());
}

TEST(Queues, FinalisingEndsAllQueues) {
  const uint32_t id = make_queue(1);
  run_finalizers();
  EXPECT_EQ(dequeue(id, 0).status().code(), Code::unknown_queue);
}

}  // namespace
}  // namespace anynpu::service
