// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <string>
#include <vector>

#include "device/stream.h"

namespace anynpu::device {
namespace {

constinit TaskKind kWork{"work", Engine::compute};

struct Seen {
  uint32_t stream;
  uint32_t task;
  uint32_t thread;
  std::string name;
  Code code;
};
std::vector<Seen>& seen() {
  static std::vector<Seen> list;
  return list;
}
void note(const TaskFailure& failure) {
  seen().push_back(
      {failure.stream_id, failure.task_id, failure.thread_id, failure.task, failure.status.code()});
}

std::shared_ptr<Stream> new_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

TEST(FailureObserver, HearsOfAFailedTaskWithItsPlaceAndThread) {
  seen().clear();
  set_failure_observer(note);
  auto stream = new_stream();
  ASSERT_TRUE(stream->submit(kWork, [] { return Status(); }).ok());
  ASSERT_TRUE(stream->submit(kWork, [] { return fail(Code::task_failed, "broken"); }).ok());
  EXPECT_EQ(stream->synchronize().code(), Code::task_failed);
  set_failure_observer(nullptr);
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].stream, stream->id());
  EXPECT_EQ(seen()[0].task, 2u);
  EXPECT_EQ(seen()[0].thread, static_cast<uint32_t>(gettid()));
  EXPECT_EQ(seen()[0].name, "work");
  EXPECT_EQ(seen()[0].code, Code::task_failed);
}

TEST(FailureObserver, AbortedTasksAreNoFailures) {
  seen().clear();
  set_failure_observer(note);
  auto stream = new_stream();
  std::promise<Completion> started;
  ASSERT_TRUE(stream
                  ->submit(kWork,
                           [&](TaskRun& run) {
                             started.set_value(run.defer());
                             return Outcome::pending;
                           })
                  .ok());
  ASSERT_TRUE(stream->submit(kWork, [] { return Status(); }).ok());
  const Completion gate = started.get_future().get();
  EXPECT_EQ(stream->wait_for(1, Deadline::after_ms(20)).code(), Code::timeout);
  EXPECT_TRUE(gate.wanted());
  stream->abort();
  EXPECT_FALSE(gate.wanted());
  (void)stream->synchronize();
  set_failure_observer(nullptr);
  EXPECT_TRUE(seen().empty());
}

}  // namespace
}  // namespace anynpu::device
