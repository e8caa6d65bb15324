// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "device/event.h"
#include "device/notify.h"

namespace anynpu::device {
namespace {

constinit TaskKind kStep{"step", Engine::control};

std::shared_ptr<Stream> make_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

// A task that stays pending until the test finishes it.
struct Held {
  std::promise<Completion> taken;
  void submit_to(Stream& stream) {
    EXPECT_TRUE(stream
                    .submit(kStep,
                            [this](TaskRun& run) {
                              taken.set_value(run.defer());
                              return Outcome::pending;
                            })
                    .ok());
  }
};

// A task that adds `value` to `sum`.
void submit_adding(Stream& stream, std::atomic<int>& sum, int value) {
  EXPECT_TRUE(stream
                  .submit(kStep,
                          [&sum, value] {
                            sum += value;
                            return Status();
                          })
                  .ok());
}

TEST(Stream, TasksRunInTheOrderTheyWereSubmitted) {
  auto stream = make_stream();
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(stream
                    ->submit(kStep,
                             [&order, i] {
                               order.push_back(i);
                               return Status();
                             })
                    .ok());
  }
  ASSERT_TRUE(stream->synchronize().ok());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Stream, AFailureIsReturnedByTheNextSynchronizeAndLaterTasksStillRun) {
  auto stream = make_stream();
  std::atomic<int> ran{0};
  ASSERT_TRUE(
      stream->submit(kStep, [] { return fail(Code::unsupported_feature, "no such copy"); }).ok());
  submit_adding(*stream, ran, 1);
  const Status status = stream->synchronize();
  EXPECT_EQ(status.code(), Code::unsupported_feature);
  EXPECT_NE(status.to_string().find("task 1"), std::string::npos);
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST(Stream, InFailureModeStopNothingRunsAfterAFailure) {
  auto stream = make_stream();
  ASSERT_TRUE(stream->set_failure_mode(FailureMode::stop).ok());
  EXPECT_EQ(stream->set_failure_mode(FailureMode::stop).code(), Code::invalid_argument);
  Held held;
  held.submit_to(*stream);
  std::atomic<int> ran{0};
  ASSERT_TRUE(stream->submit(kStep, [] { return fail(Code::internal, "broken"); }).ok());
  submit_adding(*stream, ran, 1);
  held.taken.get_future().get().finish({});
  EXPECT_EQ(stream->synchronize().code(), Code::internal);
  EXPECT_EQ(ran, 0);
  EXPECT_FALSE(stream->submit(kStep, [] { return Status(); }).ok());
}

TEST(Stream, SynchronizeWithATimeoutComesBackAndTheWorkGoesOn) {
  auto stream = make_stream();
  Held held;
  held.submit_to(*stream);
  EXPECT_EQ(stream->synchronize(Deadline::after_ms(2)).code(), Code::timeout);
  EXPECT_FALSE(stream->idle());
  held.taken.get_future().get().finish({});
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_TRUE(stream->idle());
}

TEST(Stream, AbortDropsQueuedAndParkedTasks) {
  auto stream = make_stream();
  Held held;
  held.submit_to(*stream);
  auto completion = held.taken.get_future().get();
  std::atomic<int> ran{0};
  for (int i = 0; i < 5; ++i) submit_adding(*stream, ran, 1);
  stream->abort();
  EXPECT_EQ(stream->synchronize().code(), Code::aborted);
  completion.finish({});  // too late: no effect on what follows
  submit_adding(*stream, ran, 100);
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(ran, 100);
}

TEST(Stream, ACompletionThatIsDroppedFailsTheTask) {
  auto stream = make_stream();
  ASSERT_TRUE(stream
                  ->submit(kStep,
                           [](TaskRun& run) {
                             const Completion dropped = run.defer();
                             return Outcome::pending;
                           })
                  .ok());
  EXPECT_EQ(stream->synchronize().code(), Code::task_failed);
}

TEST(Stream, ClosingDrainsWhatIsQueuedAndRefusesMore) {
  auto stream = make_stream();
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) submit_adding(*stream, ran, 1);
  stream->close(Stream::Close::drain);
  EXPECT_EQ(ran, 100);
  EXPECT_FALSE(stream->submit(kStep, [] { return Status(); }).ok());
}

TEST(Stream, TwoStreamsRunAtTheSameTime) {
  // Each task waits for the other to have started: only overlap lets both finish.
  auto a = make_stream();
  auto b = make_stream();
  std::promise<void> a_started, b_started;
  auto a_running = a_started.get_future().share();
  auto b_running = b_started.get_future().share();
  ASSERT_TRUE(a->submit(kStep, [&a_started, b_running] {
                 a_started.set_value();
                 b_running.wait();
                 return Status();
               }).ok());
  ASSERT_TRUE(b->submit(kStep, [&b_started, a_running] {
                 b_started.set_value();
                 a_running.wait();
                 return Status();
               }).ok());
  std::thread other([&] { EXPECT_TRUE(b->synchronize().ok()); });
  EXPECT_TRUE(a->synchronize().ok());
  other.join();
}

TEST(Event, AWaitBeforeAnyRecordIsRefused) {
  auto stream = make_stream();
  auto event = std::make_shared<Event>(std::weak_ptr<Context>(), 0);
  EXPECT_EQ(event->wait_in(*stream).code(), Code::event_not_recorded);
  EXPECT_EQ(event->state(), EventState::unrecorded);
}

TEST(Event, StatesFollowTheStream) {
  auto stream = make_stream();
  auto event = std::make_shared<Event>(std::weak_ptr<Context>(), 0);
  Held held;
  held.submit_to(*stream);
  ASSERT_TRUE(event->record(*stream).ok());
  EXPECT_EQ(event->state(), EventState::recorded);
  EXPECT_EQ(event->timestamp_ns().status().code(), Code::not_complete);
  held.taken.get_future().get().finish({});
  EXPECT_TRUE(event->synchronize(Deadline::never()).ok());
  EXPECT_EQ(event->state(), EventState::complete);
  EXPECT_TRUE(event->timestamp_ns().ok());
  ASSERT_TRUE(event->reset(*stream).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(event->state(), EventState::unrecorded);
}

TEST(Event, AnAbortedRecordLetsWaitersGo) {
  auto a = make_stream();
  auto b = make_stream();
  auto event = std::make_shared<Event>(std::weak_ptr<Context>(), 0);
  Held held;
  held.submit_to(*a);
  ASSERT_TRUE(event->record(*a).ok());
  ASSERT_TRUE(event->wait_in(*b).ok());
  auto completion = held.taken.get_future().get();
  a->abort();
  EXPECT_TRUE(b->synchronize().ok());
}

TEST(Event, AWaitWithATimeLimitFailsItsStream) {
  auto a = make_stream();
  auto b = make_stream();
  auto event = std::make_shared<Event>(std::weak_ptr<Context>(), 0);
  Held held;
  held.submit_to(*a);
  ASSERT_TRUE(event->record(*a).ok());
  ASSERT_TRUE(event->wait_in(*b, 3).ok());
  EXPECT_EQ(b->synchronize().code(), Code::timeout);
  held.taken.get_future().get().finish({});
  EXPECT_TRUE(a->synchronize().ok());
}

TEST(Event, ElapsedTimeResolvesLessThanAMicrosecond) {
  auto stream = make_stream();
  auto start = std::make_shared<Event>(std::weak_ptr<Context>(), 0);
  auto end = std::make_shared<Event>(std::weak_ptr<Context>(), 0);
  ASSERT_TRUE(start->record(*stream).ok());
  ASSERT_TRUE(end->record(*stream).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_GT(*elapsed_ms(*start, *end), 0.0f);
}

TEST(Notify, OneRecordReleasesOneWait) {
  auto a = make_stream();
  auto b = make_stream();
  auto notify = std::make_shared<Notify>(0);
  ASSERT_TRUE(notify->wait_and_reset(*b, 0).ok());
  EXPECT_EQ(b->synchronize(Deadline::after_ms(2)).code(), Code::timeout);
  ASSERT_TRUE(notify->record(*a).ok());
  EXPECT_TRUE(b->synchronize().ok());
  ASSERT_TRUE(notify->wait_and_reset(*b, 3).ok());  // the flag was reset by the first wait
  EXPECT_EQ(b->synchronize().code(), Code::timeout);
}

}  // namespace
}  // namespace anynpu::device
