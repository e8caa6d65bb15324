// SPDX-License-Identifier: Apache-2.0
// Sets of buffers that tasks take from queues and put into queues, and what happens when a stream
// is aborted meanwhile. The calls of programs are tested in api/acl/queue_test.cpp.
#include "device/buffer_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/stream.h"

namespace anynpu::device {
namespace {

constinit TaskKind kTake{"take", Engine::control};
constinit TaskKind kPut{"put", Engine::control};

BufferQueues& queues() { return BufferQueues::instance(); }

std::shared_ptr<Stream> make_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

std::shared_ptr<QueueBuffer> buffer_with(size_t length) {
  auto buffer = *QueueBuffer::create(16);
  buffer->length = length;
  return buffer;
}

uint32_t make_queue(uint32_t depth) { return *queues().create({"", depth}); }

size_t pop_now(uint32_t id) {
  auto taken = queues().pop(id, Deadline::after_ms(0));
  return taken.ok() ? (*taken)->length : SIZE_MAX;
}

TEST(BufferQueue, BuffersComeOutInTheOrderTheyWentInUpToTheDepth) {
  const uint32_t id = make_queue(3);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(queues().push(id, buffer_with(i), Deadline::never()).ok());
  }
  EXPECT_EQ(queues().push(id, buffer_with(3), Deadline::after_ms(0)).code(), Code::timeout);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(pop_now(id), i);
  EXPECT_EQ(queues().pop(id, Deadline::after_ms(1)).status().code(), Code::timeout);
  EXPECT_TRUE(queues().destroy(id).ok());
  EXPECT_EQ(queues().destroy(id).code(), Code::not_found);
}

TEST(BufferQueue, ATaskTakesFromAllItsQueuesOrFromNone) {
  const uint32_t first = make_queue(2), second = make_queue(2);
  auto stream = make_stream();
  const uint32_t ids[] = {first, second};
  auto ends = queues().hold(ids).value();
  QueueBuffers taken;
  ASSERT_TRUE(queues().push(first, buffer_with(1), Deadline::never()).ok());
  ASSERT_TRUE(
      stream->submit(kTake, [&](TaskRun& run) { return queues().take(run, ends, taken); }).ok());
  EXPECT_EQ(stream->synchronize(Deadline::after_ms(1)).code(), Code::timeout);
  EXPECT_EQ(pop_now(first), 1u);  // still there, and anybody's
  ASSERT_TRUE(queues().push(second, buffer_with(2), Deadline::never()).ok());
  ASSERT_TRUE(queues().push(first, buffer_with(3), Deadline::never()).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0]->length, 3u);
  EXPECT_EQ(taken[1]->length, 2u);
  EXPECT_EQ(queues().destroy(first).code(), Code::bad_call_order);
  ends = {};
  EXPECT_TRUE(queues().destroy(first).ok());
  EXPECT_TRUE(queues().destroy(second).ok());
}

TEST(BufferQueue, ATaskPutsIntoAllItsQueuesOrIntoNone) {
  const uint32_t first = make_queue(1), second = make_queue(1);
  auto stream = make_stream();
  const uint32_t ids[] = {first, second};
  auto ends = queues().hold(ids).value();
  ASSERT_TRUE(queues().push(second, buffer_with(9), Deadline::never()).ok());
  QueueBuffers made = {buffer_with(1), buffer_with(2)};
  ASSERT_TRUE(
      stream->submit(kPut, [&](TaskRun& run) { return queues().put(run, ends, made); }).ok());
  EXPECT_EQ(stream->synchronize(Deadline::after_ms(1)).code(), Code::timeout);
  EXPECT_EQ(pop_now(first), SIZE_MAX);
  EXPECT_EQ(pop_now(second), 9u);
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(pop_now(first), 1u);
  EXPECT_EQ(pop_now(second), 2u);
  ends = {};
  EXPECT_TRUE(queues().destroy(first).ok());
  EXPECT_TRUE(queues().destroy(second).ok());
}

TEST(BufferQueue, AnAbortedTaskTakesNothing) {
  const uint32_t id = make_queue(2);
  auto stream = make_stream();
  auto ends = queues().hold(std::span(&id, 1)).value();
  QueueBuffers taken;
  ASSERT_TRUE(
      stream->submit(kTake, [&](TaskRun& run) { return queues().take(run, ends, taken); }).ok());
  EXPECT_EQ(stream->synchronize(Deadline::after_ms(1)).code(), Code::timeout);
  stream->close(Stream::Close::force);
  ASSERT_TRUE(queues().push(id, buffer_with(7), Deadline::never()).ok());
  queues().withdraw(ends);
  EXPECT_TRUE(taken.empty());
  EXPECT_EQ(pop_now(id), 7u);
  ends = {};
  EXPECT_TRUE(queues().destroy(id).ok());
}

TEST(BufferQueue, HeldQueuesExistAndStandThereOnce) {
  const uint32_t id = make_queue(2);
  const uint32_t twice[] = {id, id}, unknown[] = {id, 0};
  EXPECT_EQ(queues().hold(twice).status().code(), Code::invalid_argument);
  EXPECT_EQ(queues().hold(unknown).status().code(), Code::not_found);
  EXPECT_TRUE(queues().destroy(id).ok());
}

TEST(BufferQueue, AThreadThatWaitsIsToldWhenItsQueueIsDestroyed) {
  const uint32_t id = make_queue(2);
  Status status;
  std::thread waiting([&] { status = queues().pop(id, Deadline::never()).status(); });
  EXPECT_TRUE(queues().destroy(id).ok());  // before the wait or during it: the same code
  waiting.join();
  EXPECT_EQ(status.code(), Code::not_found);
}

TEST(BufferQueue, NothingIsLostOrTornBetweenManyThreadsAndAPairOfQueues) {
  constexpr size_t kSets = 2000;
  const uint32_t in[] = {make_queue(3), make_queue(1)}, out[] = {make_queue(2), make_queue(4)};
  auto stream = make_stream();
  auto from = queues().hold(in).value();
  auto to = queues().hold(out).value();
  QueueBuffers moving;
  for (size_t i = 0; i < kSets; ++i) {
    ASSERT_TRUE(
        stream->submit(kTake, [&](TaskRun& run) { return queues().take(run, from, moving); }).ok());
    ASSERT_TRUE(
        stream->submit(kPut, [&](TaskRun& run) { return queues().put(run, to, moving); }).ok());
  }
  std::vector<std::thread> threads;
  for (const uint32_t id : in) {
    threads.emplace_back([id] {
      for (size_t i = 0; i < kSets; ++i) {
        auto buffer = *QueueBuffer::create(0);
        buffer->capacity = i;
        EXPECT_TRUE(queues().push(id, buffer, Deadline::never()).ok());
      }
    });
  }
  for (const uint32_t id : out) {
    threads.emplace_back([id] {
      for (size_t i = 0; i < kSets; ++i) {
        EXPECT_EQ((*queues().pop(id, Deadline::never()))->capacity, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(stream->synchronize().ok());
  from = {}, to = {};
  for (const uint32_t id : {in[0], in[1], out[0], out[1]}) EXPECT_TRUE(queues().destroy(id).ok());
}

}  // namespace
}  // namespace anynpu::device
