// SPDX-License-Identifier: Apache-2.0
#include "service/media/callback_channel.h"

#include <pthread.h>

#include <atomic>
#include <thread>
#include <vector>

#include "device/report.h"
#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind work_kind{"test work", device::Engine::control};

// Callbacks run in a thread of the test.
class CallbackChannelTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    thread_ = std::thread([this] {
      while (!ended_) (void)device::ReportQueues::instance().process(Deadline::after_ms(5));
    });
    auto opened = CallbackChannel::open(number());
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    channel_ = *opened;
  }
  void TearDown() override {
    (void)channel_->close();
    ended_ = true;
    thread_.join();
    MediaTest::TearDown();
  }
  uint64_t number() { return static_cast<uint64_t>(thread_.native_handle()); }

  std::shared_ptr<CallbackChannel> channel_;
  std::thread thread_;
  std::atomic<bool> ended_{false};
};

TEST_F(CallbackChannelTest, callbacks_run_in_the_thread_before_the_next_work_starts) {
  std::vector<int> order;  // by tasks and callbacks in turn, never at once
  uint64_t ran_in = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(channel_
                    ->submit(work_kind, 0,
                             [&, i] {
                               order.push_back(2 * i);
                               channel_->call([&, i] {
                                 order.push_back(2 * i + 1);
                                 ran_in = static_cast<uint64_t>(pthread_self());
                               });
                             })
                    .ok());
  }
  ASSERT_TRUE(channel_->close().ok());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ran_in, number());
}

TEST_F(CallbackChannelTest, a_closed_channel_takes_no_work) {
  ASSERT_TRUE(channel_->close().ok());
  EXPECT_EQ(channel_->submit(work_kind, 0, [] {}).code(), Code::bad_call_order);
  EXPECT_EQ(channel_->close().code(), Code::bad_call_order);
}

TEST_F(CallbackChannelTest, it_is_not_closed_inside_a_callback_of_its_own_thread) {
  Code inside = Code::ok, closed = Code::ok;
  ASSERT_TRUE(channel_
                  ->submit(work_kind, 0,
                           [&] {
                             channel_->call([&] {
                               inside = channel_->may_close().code();
                               closed = channel_->close().code();
                             });
                           })
                  .ok());
  EXPECT_TRUE(channel_->may_close().ok());
  ASSERT_TRUE(channel_->close().ok());
  EXPECT_EQ(inside, Code::bad_call_order);
  EXPECT_EQ(closed, Code::bad_call_order);
}

TEST_F(CallbackChannelTest, a_channel_needs_a_context) {
  device::Runtime::instance().reset_all();
  EXPECT_EQ(CallbackChannel::open(number()).status().code(), Code::no_context);
}

}  // namespace
}  // namespace anynpu::media
