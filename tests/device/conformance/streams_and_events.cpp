// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <atomic>
#include <thread>

#include "device_case.h"

namespace conformance {
namespace {

class Streams : public DeviceCase {};
class Events : public DeviceCase {};
class Callbacks : public DeviceCase {};

TEST_F(Streams, ManyStreamsRunTheirOwnWork) {
  constexpr int kStreams = 8;
  std::vector<std::unique_ptr<Block<int>>> blocks;
  for (int s = 0; s < kStreams; ++s) {
    blocks.push_back(std::make_unique<Block<int>>(256));
    const aclrtStream stream = create_stream();
    for (int i = 0; i <= s; ++i) {
      ASSERT_ACL(aclrtMemsetAsync(blocks[s]->at(), 1024, i, 1024, stream));
    }
  }
  ASSERT_ACL(aclrtSynchronizeDevice());
  for (int s = 0; s < kStreams; ++s) {
    EXPECT_EQ(blocks[s]->get(), std::vector<int>(256, s * 0x01010101));
  }
}

TEST_F(Streams, AFreedBlockStaysUntilQueuedWorkIsDone) {
  const aclrtStream stream = create_stream();
  void* address = nullptr;
  ASSERT_ACL(aclrtMalloc(&address, size_t{8} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  for (int i = 0; i < 20; ++i) {
    ASSERT_ACL(aclrtMemsetAsync(address, size_t{8} << 20, i, size_t{8} << 20, stream));
  }
  ASSERT_ACL(aclrtFree(address));
  EXPECT_ACL(aclrtSynchronizeStream(stream));
}

TEST_F(Streams, ValuesInMemoryAreSignals) {
  const aclrtStream waits = create_stream(), writes = create_stream();
  const Block<uint64_t> flag(std::vector<uint64_t>{0}), data(std::vector<uint64_t>{1, 2});
  ASSERT_ACL(aclrtValueWait(flag.at(), 5, 1, waits));
  ASSERT_ACL(aclrtMemcpyAsync(data.at(1), 8, data.at(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, waits));
  ASSERT_ACL(aclrtValueWrite(flag.at(), 5, 0, writes));
  ASSERT_ACL(aclrtSynchronizeStream(waits));
  EXPECT_EQ(data.get(), (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(flag.get(), std::vector<uint64_t>{5});
}

TEST_F(Events, AStreamWaitsForAnother) {
  const aclrtStream first = create_stream(), second = create_stream();
  const Block<int> block(1 << 20);
  aclrtEvent event = nullptr;
  ASSERT_ACL(aclrtCreateEvent(&event));
  for (int i = 0; i < 10; ++i) {
    ASSERT_ACL(aclrtMemsetAsync(block.at(), block.bytes(), i, block.bytes(), first));
  }
  ASSERT_ACL(aclrtRecordEvent(event, first));
  ASSERT_ACL(aclrtStreamWaitEvent(second, event));
  std::vector<int> got(1 << 20);
  ASSERT_ACL(aclrtMemcpyAsync(got.data(), block.bytes(), block.at(), block.bytes(),
                              ACL_MEMCPY_DEVICE_TO_HOST, second));
  ASSERT_ACL(aclrtSynchronizeStream(second));
  EXPECT_EQ(got, std::vector<int>(1 << 20, 0x09090909));
  ASSERT_ACL(aclrtDestroyEvent(event));
}

TEST_F(Events, TimesGrowWithTheWorkBetween) {
  const aclrtStream stream = create_stream();
  const Block<int> block(1 << 20);
  aclrtEvent begin = nullptr, end = nullptr;
  ASSERT_ACL(aclrtCreateEvent(&begin));
  ASSERT_ACL(aclrtCreateEvent(&end));
  ASSERT_ACL(aclrtRecordEvent(begin, stream));
  for (int i = 0; i < 10; ++i) {
    ASSERT_ACL(aclrtMemsetAsync(block.at(), block.bytes(), i, block.bytes(), stream));
  }
  ASSERT_ACL(aclrtRecordEvent(end, stream));
  ASSERT_ACL(aclrtSynchronizeEvent(end));
  float ms = 0;
  ASSERT_ACL(aclrtEventElapsedTime(&ms, begin, end));
  EXPECT_GT(ms, 0.0F);
  ASSERT_ACL(aclrtDestroyEvent(begin));
  ASSERT_ACL(aclrtDestroyEvent(end));
}

TEST_F(Events, AWaitKeepsTheOrderWhenItsRecordComesBehindHostWork) {
  const aclrtStream first = create_stream(), second = create_stream();
  const Block<uint64_t> flag(std::vector<uint64_t>{0});
  const Block<int> block(std::vector<int>(1024, 1)), seen(1024);
  aclrtEvent event = nullptr;
  ASSERT_ACL(aclrtCreateEvent(&event));
  ASSERT_ACL(aclrtValueWait(flag.at(), 7, 1, first));  // the host opens it later
  ASSERT_ACL(aclrtMemsetAsync(block.at(), block.bytes(), 5, block.bytes(), first));
  ASSERT_ACL(aclrtRecordEvent(event, first));
  ASSERT_ACL(aclrtMemsetAsync(block.at(), 64, 3, 64, second));
  ASSERT_ACL(aclrtStreamWaitEvent(second, event));
  ASSERT_ACL(aclrtMemcpyAsync(seen.at(), seen.bytes(), block.at(), block.bytes(),
                              ACL_MEMCPY_DEVICE_TO_DEVICE, second));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_ACL(aclrtQueryEventStatus(event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  ASSERT_ACL(aclrtValueWrite(flag.at(), 7, 0, create_stream()));
  ASSERT_ACL(aclrtSynchronizeStream(second));
  EXPECT_EQ(seen.get(), std::vector<int>(1024, 0x05050505));
  EXPECT_ACL(aclrtQueryEventStatus(event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  ASSERT_ACL(aclrtDestroyEvent(event));
}

TEST_F(Events, ChainsOverManyStreamsKeepTheOrder) {
  constexpr int kStreams = 6, kRounds = 20;
  const Block<int> block(std::vector<int>(1 << 16, 0));
  std::vector<aclrtStream> streams;
  std::vector<aclrtEvent> events(kStreams);
  for (aclrtEvent& event : events) {
    streams.push_back(create_stream());
    ASSERT_ACL(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  }
  for (int i = 0; i < kStreams * kRounds; ++i) {
    const int now = i % kStreams, before = (i + kStreams - 1) % kStreams;
    if (i > 0) {
      ASSERT_ACL(aclrtStreamWaitEvent(streams[now], events[before]));
    }
    ASSERT_ACL(aclrtMemsetAsync(block.at(), block.bytes(), i, block.bytes(), streams[now]));
    ASSERT_ACL(aclrtRecordEvent(events[now], streams[now]));
  }
  ASSERT_ACL(aclrtSynchronizeDevice());
  EXPECT_EQ(block.get(), std::vector<int>(1 << 16, (kStreams * kRounds - 1) * 0x01010101));
  for (const aclrtEvent event : events) ASSERT_ACL(aclrtDestroyEvent(event));
}

class Captures : public DeviceCase {};

// Two streams of a capture: the second joins through an event, and the first waits for its end.
TEST_F(Captures, AreReplayedInOrderAnyNumberOfTimes) {
  const aclrtStream first = create_stream(), second = create_stream();
  const Block<int> source(std::vector<int>(256, 1)), middle(256), result(512);
  aclrtEvent fork = nullptr, join = nullptr;
  ASSERT_ACL(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
  ASSERT_ACL(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
  ASSERT_ACL(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  ASSERT_ACL(
      aclrtMemcpyAsync(middle.at(), 1024, source.at(), 1024, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
  ASSERT_ACL(aclrtRecordEvent(fork, first));
  ASSERT_ACL(aclrtStreamWaitEvent(second, fork));
  ASSERT_ACL(aclrtMemcpyAsync(result.at(256), 1024, middle.at(), 1024, ACL_MEMCPY_DEVICE_TO_DEVICE,
                              second));
  ASSERT_ACL(
      aclrtMemcpyAsync(result.at(), 1024, middle.at(), 1024, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
  ASSERT_ACL(aclrtRecordEvent(join, second));
  ASSERT_ACL(aclrtStreamWaitEvent(first, join));
  ASSERT_ACL(aclrtMemsetAsync(middle.at(), 1024, 0, 1024, first));
  aclmdlRI recorded = nullptr;
  ASSERT_ACL(aclmdlRICaptureEnd(first, &recorded));
  for (int run = 1; run <= 5; ++run) {
    std::vector<int> got(512);
    const std::vector<int> given(256, run);
    ASSERT_ACL(aclrtMemcpy(source.at(), 1024, given.data(), 1024, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL(aclmdlRIExecuteAsync(recorded, first));
    ASSERT_ACL(
        aclrtMemcpyAsync(got.data(), 2048, result.at(), 2048, ACL_MEMCPY_DEVICE_TO_HOST, first));
    ASSERT_ACL(aclrtSynchronizeStream(first));
    EXPECT_EQ(got, std::vector<int>(512, run));
    EXPECT_EQ(middle.get(), std::vector<int>(256, 0));
  }
  ASSERT_ACL(aclmdlRIDestroy(recorded));
  ASSERT_ACL(aclrtDestroyEvent(fork));
  ASSERT_ACL(aclrtDestroyEvent(join));
}

TEST_F(Callbacks, TheyRunInStreamOrderInTheThreadThatSubscribed) {
  const aclrtStream stream = create_stream();
  std::atomic<bool> ended{false};
  aclrtContext context = nullptr;
  ASSERT_ACL(aclrtGetCurrentContext(&context));
  std::thread reporter([&] {
    EXPECT_ACL(aclrtSetCurrentContext(context));
    while (!ended) aclrtProcessReport(10);
  });
  const auto id = static_cast<uint64_t>(reporter.native_handle());
  ASSERT_ACL(aclrtSubscribeReport(id, stream));
  const Block<int> block(std::vector<int>{1});
  struct Seen {
    void* address;
    int value = 0;
  } seen{block.at()};
  ASSERT_ACL(aclrtMemsetAsync(block.at(), 4, 2, 4, stream));
  const auto look = [](void* data) {
    auto* const to = static_cast<Seen*>(data);
    EXPECT_ACL(aclrtMemcpy(&to->value, 4, to->address, 4, ACL_MEMCPY_DEVICE_TO_HOST));
  };
  ASSERT_ACL(aclrtLaunchCallback(look, &seen, ACL_CALLBACK_BLOCK, stream));
  ASSERT_ACL(aclrtMemsetAsync(block.at(), 4, 3, 4, stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(seen.value, 0x02020202);
  EXPECT_EQ(block.get(), std::vector<int>{0x03030303});
  ASSERT_ACL(aclrtUnSubscribeReport(id, stream));
  ended = true;
  reporter.join();
}

}  // namespace
}  // namespace conformance
