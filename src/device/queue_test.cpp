// SPDX-License-Identifier: Apache-2.0
#include "device/queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/memory.h"
#include "device/physical_memory.h"
#include "device/remote_device_for_test.h"

namespace anynpu::device {
namespace {

constinit TaskKind kNote{"note", Engine::control};

class QueueOfABackEnd : public testing::Test {
 protected:
  void* allocate() { return *allocate_device(*device_, 64, {}); }
  // Until the stream waits for its queue.
  void settle() {
    EXPECT_EQ(stream_->synchronize(Deadline::after_ms(10)).code(), Code::timeout);
    EXPECT_TRUE(device_->queue->waited_for());
  }

  std::shared_ptr<RemoteDevice> device_ = std::make_shared<RemoteDevice>(7);
  std::shared_ptr<Stream> stream_ =
      std::make_shared<Stream>(device_, std::weak_ptr<Context>(), StreamOptions{});
};

TEST_F(QueueOfABackEnd, ATaskIsDoneWhenTheQueueIs) {
  void* const address = allocate();
  int sent = 42, got = 0;
  bool noted = false;
  ASSERT_TRUE(copy_async({address, 4, &sent, 4, CopyKind::host_to_device}, *stream_).ok());
  ASSERT_TRUE(stream_->submit(kNote, [&] { return noted = true, Status(); }).ok());
  settle();
  EXPECT_FALSE(noted);
  device_->queue->work();
  EXPECT_TRUE(stream_->synchronize().ok());
  EXPECT_TRUE(noted);
  EXPECT_TRUE(copy({&got, 4, address, 4, CopyKind::device_to_host}).ok());
  EXPECT_EQ(got, 42);
  EXPECT_TRUE(free_device(address).ok());
}

TEST_F(QueueOfABackEnd, ItsFailureIsThatOfTheTask) {
  void* const address = allocate();
  ASSERT_TRUE(fill_async(address, 64, 1, 64, *stream_).ok());
  settle();
  device_->queue->work(fail(Code::task_failed, "the card fell off the bus"));
  const Status status = stream_->synchronize();
  EXPECT_EQ(status.code(), Code::task_failed);
  EXPECT_NE(status.to_string().find("memset_async"), std::string::npos);
  EXPECT_TRUE(free_device(address).ok());
}

TEST_F(QueueOfABackEnd, GetsWorkBeforeTheWorkInFrontOfItIsDone) {
  void* const address = allocate();
  for (int value = 1; value <= 3; ++value)
    ASSERT_TRUE(fill_async(address, 64, value, 64, *stream_).ok());
  EXPECT_EQ(device_->queue->length(), 3u);
  EXPECT_EQ(stream_->completed(), 0u);
  EXPECT_FALSE(*stream_->query());
  settle();
  device_->queue->work();
  EXPECT_TRUE(*stream_->query());
  EXPECT_TRUE(stream_->synchronize().ok());
  EXPECT_EQ(stream_->completed(), 3u);
  EXPECT_TRUE(free_device(address).ok());
}

TEST_F(QueueOfABackEnd, BlocksAreKeptUntilItIsDoneWithThem) {
  void* const address = allocate();
  ASSERT_TRUE(fill_async(address, 64, 1, 64, *stream_).ok());
  const size_t used = device_->memory_used();
  EXPECT_TRUE(free_device(address).ok());
  EXPECT_EQ(device_->memory_used(), used);
  settle();
  device_->queue->work();
  EXPECT_TRUE(stream_->synchronize().ok());
  EXPECT_LT(device_->memory_used(), used);
}

TEST_F(QueueOfABackEnd, KeepsItsWorkWhenTheStreamIsAborted) {
  void* const address = allocate();
  bool noted = false;
  ASSERT_TRUE(fill_async(address, 64, 1, 64, *stream_).ok());
  ASSERT_TRUE(stream_->submit(kNote, [&] { return noted = true, Status(); }).ok());
  settle();
  stream_->abort();
  EXPECT_EQ(stream_->completed(), 0u);
  device_->queue->work();
  EXPECT_EQ(stream_->synchronize().code(), Code::aborted);
  EXPECT_FALSE(noted);
  EXPECT_TRUE(free_device(address).ok());
}

TEST_F(QueueOfABackEnd, TasksThatCannotBeGivenToItFailInTheirTurn) {
  void* const address = allocate();
  ASSERT_TRUE(fill_async(address, 64, 1, 64, *stream_).ok());
  device_->queue->refuse(fail(Code::out_of_memory, "no room in the queue"));
  ASSERT_TRUE(fill_async(address, 64, 2, 64, *stream_).ok());
  EXPECT_EQ(stream_->completed(), 0u);
  settle();
  device_->queue->work();
  const Status status = stream_->synchronize();
  EXPECT_EQ(status.code(), Code::out_of_memory);
  EXPECT_NE(status.to_string().find("in task 2"), std::string::npos) << status.to_string();
  EXPECT_TRUE(free_device(address).ok());
}

// A queue that is never idle and says from another thread that its work is over.
class DistantQueue final : public Queue {
 public:
  explicit DistantQueue(Status outcome) : outcome_(std::move(outcome)) {}
  ~DistantQueue() override { thread_.join(); }
  Status copy(const CopyRows&) override { return {}; }
  Status fill(void*, int, size_t) override { return {}; }
  bool idle() const override { return false; }
  void when_idle(std::function<void(Status)> done) override {
    thread_ = std::thread([this, done = std::move(done)] { done(outcome_); });
  }
  void keep(std::shared_ptr<void>) override {}

 private:
  Status outcome_;
  std::thread thread_;
};

TEST(DrainingAQueue, WaitsForTheOutcomeOfItsWork) {
  EXPECT_TRUE(DistantQueue({}).drain().ok());
  EXPECT_EQ(DistantQueue(fail(Code::task_failed, "the card fell off the bus")).drain().code(),
            Code::task_failed);
}

TEST_F(QueueOfABackEnd, MemoryThatCannotBeSharedIsRefused) {
  EXPECT_EQ(PhysicalMemory::create(device_.get(), 4096).status().code(), Code::unsupported_feature);
}

}  // namespace
}  // namespace anynpu::device
