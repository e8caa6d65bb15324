// SPDX-License-Identifier: Apache-2.0
#include "device/runtime.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "device/device_list.h"
#include "device/notify.h"
#include "device/report.h"

namespace anynpu::device {
namespace {

Runtime& runtime() { return Runtime::instance(); }

TEST(DeviceList, VisibleDevicesKeepTheirOrderAndEndAtTheFirstInvalidEntry) {
  EXPECT_EQ(visible_ids("1", 8), (std::vector<int32_t>{1}));
  EXPECT_EQ(visible_ids("4,3,2", 8), (std::vector<int32_t>{4, 3, 2}));
  EXPECT_EQ(visible_ids("2,3,-1,5", 8), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(visible_ids("2, 3", 8), (std::vector<int32_t>{2}));
  EXPECT_EQ(visible_ids("8", 8), (std::vector<int32_t>{}));
  EXPECT_EQ(visible_ids("0,0,1", 8), (std::vector<int32_t>{0}));
}

TEST(DeviceList, UnknownDevicesAreLeftOutWithAReason) {
  const DeviceList list = list_devices("cpu:2,cuda:99,tpu", std::nullopt);
  EXPECT_EQ(list.devices.size(), 2u);
  EXPECT_NE(list.problem.find("tpu"), std::string::npos);
}

// Runs on machines with a GPU, with a driver alone, and with neither.
TEST(DeviceList, AGpuThatCannotBeUsedIsLeftOutWithAReason) {
  const DeviceList list = list_devices("cuda:0", std::nullopt);
  if (!list.devices.empty()) {
    EXPECT_EQ(list.devices[0]->capabilities().backend, "cuda");
    EXPECT_GT(list.devices[0]->memory_total(), 0u);
    return;
  }
  EXPECT_NE(list.problem.find("cuda:0"), std::string::npos) << list.problem;
  EXPECT_NE(list.problem.find("because"), std::string::npos) << list.problem;
}

TEST(Runtime, DevicesAreCountedAndEndAtZero) {
  ASSERT_TRUE(runtime().set_device(0).ok());
  ASSERT_TRUE(runtime().set_device(0).ok());
  ASSERT_TRUE(runtime().reset_device(0, Runtime::Reset::count_down).ok());
  EXPECT_TRUE(runtime().current().ok());
  ASSERT_TRUE(runtime().reset_device(0, Runtime::Reset::count_down).ok());
  EXPECT_EQ(runtime().current().status().code(), Code::no_context);
  EXPECT_EQ(runtime().reset_device(0, Runtime::Reset::count_down).code(), Code::invalid_device);
  EXPECT_EQ(runtime().set_device(99).code(), Code::invalid_device);
  EXPECT_EQ(runtime().set_device(-1).code(), Code::invalid_device);
}

TEST(Runtime, TheLastCreatedContextIsCurrentAndEachThreadHasItsOwn) {
  ASSERT_TRUE(runtime().set_device(1).ok());
  const Handle first = *runtime().create_context(1);
  const Handle second = *runtime().create_context(2);
  EXPECT_EQ((*runtime().current())->handle(), second);
  EXPECT_EQ((*runtime().current())->device()->id(), 2);
  ASSERT_TRUE(runtime().set_current(first).ok());
  EXPECT_EQ((*runtime().current())->device()->id(), 1);
  std::thread other([] { EXPECT_EQ(runtime().current().status().code(), Code::no_context); });
  other.join();
  EXPECT_TRUE(runtime().destroy_context(second).ok());
  EXPECT_EQ(runtime().destroy_context(second).code(), Code::invalid_handle);
  EXPECT_TRUE(runtime().destroy_context(first).ok());
  EXPECT_EQ(runtime().current().status().code(), Code::no_context);
  EXPECT_TRUE(runtime().reset_device(1, Runtime::Reset::count_down).ok());
}

TEST(Runtime, DefaultContextAndStreamCannotBeDestroyed) {
  ASSERT_TRUE(runtime().set_device(3).ok());
  auto context = *runtime().current();
  EXPECT_FALSE(runtime().destroy_context(context->handle()).ok());
  EXPECT_FALSE(runtime().destroy_stream(0, Stream::Close::drain).ok());
  EXPECT_FALSE(
      runtime().destroy_stream(context->default_stream_handle(), Stream::Close::drain).ok());
  EXPECT_TRUE(runtime().set_current(context->handle()).ok());
  EXPECT_TRUE(runtime().reset_device(3, Runtime::Reset::count_down).ok());
}

TEST(Runtime, StreamsOfADestroyedContextAreUnusableButDestroyable) {
  const Handle context = *runtime().create_context(4);
  const Handle stream = *(*runtime().current())->create_stream({});
  ASSERT_TRUE(runtime().destroy_context(context).ok());
  static constinit TaskKind kind{"step", Engine::control};
  EXPECT_EQ((*runtime().stream(stream))->submit(kind, [] { return Status(); }).code(),
            Code::wrong_context);
  EXPECT_TRUE(runtime().destroy_stream(stream, Stream::Close::drain).ok());
  EXPECT_EQ(runtime().destroy_stream(stream, Stream::Close::drain).code(), Code::invalid_handle);
}

TEST(Runtime, StuckStreamsOfADeviceShareOneSecondWhenItIsReset) {
  ASSERT_TRUE(runtime().set_device(6).ok());
  auto notify = std::make_shared<Notify>(0);
  for (int i = 0; i < 30; ++i) {  // half a minute if each had its own second
    const Handle handle = *(*runtime().current())->create_stream({});
    ASSERT_TRUE(notify->wait_and_reset(**runtime().stream(handle), 0).ok());
  }
  const uint64_t start = now_ns();
  EXPECT_TRUE(runtime().reset_device(6, Runtime::Reset::count_down).ok());
  EXPECT_LT(now_ns() - start, 20'000'000'000u);
}

TEST(Report, CallbacksRunInTheSubscribedThreadInStreamOrder) {
  ASSERT_TRUE(runtime().set_device(5).ok());
  auto& queues = ReportQueues::instance();
  auto stream = (*runtime().current())->default_stream();
  std::vector<int> order;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> thread_id{0};
  std::thread server([&] {
    thread_id = static_cast<uint64_t>(pthread_self());
    while (!stop) (void)queues.process(Deadline::after_ms(5));
  });
  while (!thread_id) std::this_thread::yield();
  EXPECT_EQ(queues.launch([] {}, ReportQueues::Block::no, *stream).code(),
            Code::stream_not_subscribed);
  ASSERT_TRUE(queues.subscribe(thread_id, stream).ok());
  EXPECT_EQ(queues.subscribe(thread_id, stream).code(), Code::already_subscribed);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(queues
                    .launch(
                        [&order, i, &thread_id] {
                          EXPECT_EQ(static_cast<uint64_t>(pthread_self()), thread_id);
                          order.push_back(i);
                        },
                        ReportQueues::Block::yes, *stream)
                    .ok());
  }
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(order.size(), 20u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_TRUE(queues.unsubscribe(thread_id, *stream).ok());
  EXPECT_EQ(queues.unsubscribe(thread_id, *stream).code(), Code::stream_not_subscribed);
  stop = true;
  server.join();
  EXPECT_EQ(queues.process(Deadline::after_ms(1)).code(), Code::thread_not_subscribed);
  EXPECT_TRUE(runtime().reset_device(5, Runtime::Reset::count_down).ok());
}

}  // namespace
}  // namespace anynpu::device
