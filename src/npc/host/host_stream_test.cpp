// SPDX-License-Identifier: Apache-2.0
#include "npc/host/host_stream.h"

#include <gtest/gtest.h>

#include <vector>

#include "npc/host/copy.h"

namespace anynpu::npc {
namespace {

using device::Engine;
using device::TaskKind;

constinit TaskKind kStep{"step", Engine::npc};

ClusterHost& host(int id) { return **ClusterHost::get(id); }

// Appends `value` to `log` when the lane comes to it.
void step(Lane& lane, std::vector<int>& log, int value) {
  ASSERT_TRUE(lane.stream()
                  .submit(kStep,
                          [&log, value] {
                            log.push_back(value);
                            return Status();
                          })
                  .ok());
}

TEST(HostStream, BelongsToOneCluster) {
  auto stream = *HostStream::create(host(0));
  EXPECT_TRUE(stream->next_lane(host(0)).ok());
  EXPECT_EQ(stream->next_lane(host(1)).status().code(), Code::wrong_context);
}

TEST(HostStream, AUnifiedStreamKeepsItsOrderAcrossClusters) {
  auto stream = HostStream::create_unified();
  std::vector<int> log;
  std::vector<int> expected;
  for (int i = 0; i < 400; ++i) {
    step(**stream->next_lane(host(i * 7 % 4)), log, i);
    expected.push_back(i);
  }
  EXPECT_TRUE(stream->synchronize(Deadline::never()).ok());
  EXPECT_EQ(log, expected);
}

TEST(HostStream, CleanIsNoFailure) {
  auto blocker = std::make_shared<HostEvent>(host(0));
  auto first = *HostStream::create(host(0));
  auto second = *HostStream::create(host(0));
  device::Completion hold;
  ASSERT_TRUE(first->lanes()[0]
                  ->stream()
                  .submit(kStep,
                          [&hold](device::TaskRun& run) {
                            hold = run.defer();
                            return device::Outcome::pending;
                          })
                  .ok());
  ASSERT_TRUE(blocker->record(first->lanes()).ok());
  Lane& lane = *second->lanes()[0];
  ASSERT_TRUE(blocker->wait_in(lane).ok());
  std::vector<int> log;
  step(lane, log, 1);
  second->clean();
  EXPECT_TRUE(second->synchronize(Deadline::never()).ok());
  EXPECT_TRUE(log.empty());
  first->clean();
  EXPECT_TRUE(first->synchronize(Deadline::never()).ok());
  step(lane, log, 2);
  EXPECT_TRUE(second->synchronize(Deadline::never()).ok());
  EXPECT_EQ(log, std::vector<int>{2});
}

TEST(HostEvent, RecordedEverywhereWaitsForEveryLane) {
  std::vector<std::shared_ptr<HostStream>> streams;
  std::vector<std::vector<int>> logs(5);
  for (auto& log : logs) {
    streams.push_back(*HostStream::create(host(2)));
    for (int i = 0; i < 50; ++i) step(*streams.back()->lanes()[0], log, i);
  }
  HostEvent event(host(2));
  EXPECT_EQ(event.synchronize(Deadline::never()).code(), Code::event_not_recorded);
  ASSERT_TRUE(event.record(host(2).lanes()).ok());
  ASSERT_TRUE(event.synchronize(Deadline::never()).ok());
  for (const auto& log : logs) EXPECT_EQ(log.size(), 50u);
  EXPECT_TRUE(event.timestamp_ns().ok());
}

TEST(ClusterHost, ExceptionsAreToldOnceAndByTheirLane) {
  auto good = *HostStream::create(host(3));
  auto bad = *HostStream::create(host(3));
  host(3).add_exception(*bad->lanes()[0], fail(Code::task_failed, "a trap"), "");
  EXPECT_TRUE(good->synchronize(Deadline::never()).ok());
  EXPECT_EQ(bad->synchronize(Deadline::never()).code(), Code::task_failed);
  EXPECT_TRUE(bad->synchronize(Deadline::never()).ok());
  host(3).add_exception(*bad->lanes()[0], fail(Code::task_failed, "a trap"), "");
  bad.reset();
  EXPECT_EQ(host(3).synchronize(Deadline::never()).code(), Code::task_failed);
  EXPECT_TRUE(host(3).synchronize(Deadline::never()).ok());
}

TEST(HpeCopy, AQueuedCopyKeepsFreedMemoryAndCallsRelease) {
  Cluster& cluster = host(1).cluster();
  const uint32_t address = *cluster.allocate(4096);
  std::vector<char> from(4096, 7);
  std::vector<char> to(4096, 0);
  auto device_place = [&] {
    return CopyEnd{&host(1), reinterpret_cast<void*>(uintptr_t{address})};
  };
  int released = 0;
  const CopyRelease release{[](void* count) { ++*static_cast<int*>(count); }, &released};
  const auto& lane = host(1).default_lane();
  ASSERT_TRUE(copy({device_place(), {nullptr, from.data()}, 4096}, lane).ok());
  ASSERT_TRUE(copy_async({{nullptr, to.data()}, device_place(), 4096}, lane, release).ok());
  ASSERT_TRUE(cluster.release(address).ok());
  ASSERT_TRUE(lane->synchronize(Deadline::never()).ok());
  EXPECT_EQ(to, from);
  EXPECT_EQ(released, 1);
  EXPECT_EQ(copy_async({{nullptr, to.data()}, device_place(), 4096}, lane, release).code(),
            Code::invalid_address);
  EXPECT_EQ(released, 2);
}

}  // namespace
}  // namespace anynpu::npc
