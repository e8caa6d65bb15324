// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "trace/registry.h"

namespace anynpu::trace {
namespace {

struct Collected {
  std::vector<Event> events;
  uint64_t lost = 0;
  std::string thread_name;
};

class Collector : public DrainVisitor {
 public:
  void on_clock(const TickScale& scale) override { this->scale = scale; }
  void on_events(const ThreadInfo& thread, std::span<const Event> events) override {
    Collected& of = threads[thread.id];
    of.thread_name = name_of(thread.name);
    of.events.insert(of.events.end(), events.begin(), events.end());
  }
  void on_lost(const ThreadInfo& thread, uint64_t count) override {
    threads[thread.id].lost += count;
  }
  Collected& here() { return threads[static_cast<uint64_t>(syscall(SYS_gettid))]; }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const auto& [id, of] : threads) sum += of.events.size() + of.lost;
    return sum;
  }

  TickScale scale;
  std::map<uint64_t, Collected> threads;
};

class Trace : public testing::Test {
 protected:
  void SetUp() override { discard(); }
  void TearDown() override {
    set_mask(0);
    discard();
  }
};

void work_with_a_zone() { ANYNPU_TRACE_ZONE(op, "conv1", 7, 640); }

TEST_F(Trace, OffMakesNoRingAndNoName) {
  const size_t names = name_count();
  const size_t rings = ring_stats().rings;
  std::thread([] {
    ANYNPU_TRACE_ZONE(api, "never interned because tracing is off");
    instant(Category::user, 0);
    counter(0, 1);
  }).join();
  EXPECT_EQ(name_count(), names);
  EXPECT_EQ(ring_stats().rings, rings);
}

TEST_F(Trace, AZoneBecomesOneSliceWithItsNameAndTime) {
  set_mask(bit(Category::op));
  const uint64_t before = now_ns();
  work_with_a_zone();
  const uint64_t after = now_ns();
  Collector all;
  drain(all);
  ASSERT_EQ(all.here().events.size(), 1u);
  const Event& event = all.here().events[0];
  EXPECT_EQ(event.phase(), Phase::slice);
  EXPECT_EQ(event.category(), Category::op);
  EXPECT_EQ(name_of(event.name), "conv1");
  EXPECT_EQ(event.correlation, 7u);
  EXPECT_EQ(event.arg, 640u);
  // The rate of ticks is known to 0.1 %, and this thread may stand still between event and drain.
  const uint64_t error = 50'000 + (now_ns() - before) / 1000;
  EXPECT_GE(all.scale.to_ns(event.tsc) + error, before);
  EXPECT_LE(all.scale.to_ns(event.tsc + event.duration), after + error);
}

TEST_F(Trace, OnlyCategoriesOfTheMaskAreRecorded) {
  set_mask(bit(Category::copy));
  work_with_a_zone();
  { ANYNPU_TRACE_ZONE(copy, "h2d"); }
  counter(intern("bytes"), 5);
  Collector all;
  drain(all);
  ASSERT_EQ(all.here().events.size(), 1u);
  EXPECT_EQ(name_of(all.here().events[0].name), "h2d");
}

TEST_F(Trace, UnknownBitsOfTheMaskAreIgnored) {
  set_mask(~Mask{0});
  EXPECT_EQ(mask(), kAllCategories);
}

TEST_F(Trace, AZoneOpenWhenRecordingStopsLeavesNothingBehind) {
  set_mask(kAllCategories);
  {
    ANYNPU_TRACE_ZONE(user, "cut off");
    set_mask(0);
  }
  Collector all;
  drain(all);
  EXPECT_EQ(all.total(), 0u);
}

TEST_F(Trace, CountersKeepNegativeValuesAndInstantsTheirArgument) {
  set_mask(kAllCategories);
  counter(intern("bytes in use"), -5);
  instant(Category::memory, intern("malloc"), 3, 4096);
  Collector all;
  drain(all);
  ASSERT_EQ(all.here().events.size(), 2u);
  EXPECT_EQ(all.here().events[0].phase(), Phase::counter);
  EXPECT_EQ(all.here().events[0].value(), -5);
  EXPECT_EQ(all.here().events[1].phase(), Phase::instant);
  EXPECT_EQ(all.here().events[1].arg, 4096u);
}

TEST_F(Trace, TheArgumentCanBeSetAtTheEnd) {
  set_mask(kAllCategories);
  {
    TraceZone zone(Category::api, intern("aclrtMalloc"));
    EXPECT_TRUE(zone.recording());
    zone.set_arg(207001);
  }
  Collector all;
  drain(all);
  ASSERT_EQ(all.here().events.size(), 1u);
  EXPECT_EQ(all.here().events[0].arg, 207001u);
}

TEST_F(Trace, ADrainThatComesLateFindsWhatManySecondsRecorded) {
  set_mask(kAllCategories);
  constexpr uint64_t kEvents = 10 * 50'000;
  for (uint64_t i = 0; i < kEvents; ++i) instant(Category::user, 0, 0, i);
  Collector all;
  drain(all);
  ASSERT_EQ(all.here().events.size(), kEvents);
  EXPECT_EQ(all.here().lost, 0u);
  for (uint64_t i = 0; i < kEvents; ++i) ASSERT_EQ(all.here().events[i].arg, i);
}

TEST_F(Trace, WhatDoesNotFitInTheMemoryOfAllRingsIsCountedAsLost) {
  set_mask(kAllCategories);
  constexpr uint64_t kEvents = kPoolEvents + 1000;
  for (uint64_t i = 0; i < kEvents; ++i) instant(Category::user, 0);
  Collector all;
  drain(all);
  EXPECT_GE(all.here().lost, 1000u);
  EXPECT_GE(all.here().events.size(), kPoolEvents - kMostRings * kBlockEvents);
  EXPECT_EQ(all.total(), kEvents);
}

TEST_F(Trace, ThreadsThatEndHandTheirRingsOnAndKeepTheirNames) {
  set_mask(kAllCategories);
  const size_t rings_before = ring_stats().rings;
  std::vector<uint64_t> ids;
  for (int i = 0; i < 20; ++i) {
    std::thread([&, i] {
      pthread_setname_np(pthread_self(), ("worker " + std::to_string(i)).c_str());
      ids.push_back(static_cast<uint64_t>(syscall(SYS_gettid)));
      instant(Category::user, 0, 0, static_cast<uint64_t>(i));
    }).join();
  }
  EXPECT_LE(ring_stats().rings, rings_before + 1) << "threads that follow each other share a ring";
  Collector all;
  drain(all);
  EXPECT_EQ(all.total(), 20u);
  for (int i = 0; i < 20; ++i) {
    const Collected& of = all.threads[ids[static_cast<size_t>(i)]];
    ASSERT_GE(of.events.size(), 1u);
    EXPECT_EQ(of.thread_name, "worker " + std::to_string(of.events.back().arg));
  }
}

TEST_F(Trace, ManyThreadsRecordWhileOneDrainsAndNothingIsMiscounted) {
  constexpr int kThreads = 8;
  constexpr uint64_t kEvents = 20'000;
  set_mask(kAllCategories);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kEvents; ++i) {
        ANYNPU_TRACE_ZONE(task, "task", 1, i);
      }
      --running;
    });
  }
  Collector all;
  while (running > 0) drain(all);
  for (auto& thread : threads) thread.join();
  drain(all);
  EXPECT_EQ(all.total(), kThreads * kEvents);
  for (const auto& [id, of] : all.threads) {
    for (size_t i = 1; i < of.events.size(); ++i) {
      ASSERT_GE(of.events[i].tsc, of.events[i - 1].tsc) << "events of one thread are in order";
    }
  }
}

struct RecordsAtThreadExit {
  ~RecordsAtThreadExit() { instant(Category::user, 0); }
};

TEST_F(Trace, AnEventAfterTheThreadGaveItsRingBackIsCountedAsLost) {
  set_mask(kAllCategories);
  std::thread([] {
    thread_local RecordsAtThreadExit late;  // made first, so destroyed after the ring was returned
    (void)&late;
    instant(Category::user, 0);
  }).join();
  Collector all;
  drain(all);
  EXPECT_EQ(all.total(), 2u);
  EXPECT_EQ(all.threads[0].lost, 1u);
}

TEST_F(Trace, NumberOfRingsIsBounded) {
  set_mask(kAllCategories);
  constexpr size_t kThreads = kMostRings + 10;
  std::atomic<size_t> recorded{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      instant(Category::user, 0);
      ++recorded;
      while (recorded < kThreads) std::this_thread::yield();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(ring_stats().rings, kMostRings);
  Collector all;
  drain(all);
  EXPECT_EQ(all.total(), kThreads);
  EXPECT_GE(all.threads[0].lost, 10u);
}

TEST_F(Trace, CorrelationsAreUniqueAndScopesNest) {
  set_mask(kAllCategories);
  const uint32_t first = next_correlation();
  const uint32_t second = next_correlation();
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
  EXPECT_EQ(current_correlation(), 0u);
  {
    CorrelationScope outer(first);
    {
      CorrelationScope inner(second);
      EXPECT_EQ(current_correlation(), second);
    }
    EXPECT_EQ(current_correlation(), first);
  }
  EXPECT_EQ(current_correlation(), 0u);
}

TEST_F(Trace, AForkedChildRecordsNothing) {
  set_mask(kAllCategories);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(mask() == 0 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Names, AreTheSameIdForTheSameText) {
  const NameId a = intern("Conv_17");
  EXPECT_EQ(intern("Conv_17"), a);
  EXPECT_NE(intern("Conv_18"), a);
  EXPECT_EQ(name_of(a), "Conv_17");
  EXPECT_EQ(intern(""), 0u);
  EXPECT_EQ(name_of(0), "");
  EXPECT_EQ(name_of(0xffffffffu), "unknown name");
}

TEST(Names, TooLongOnesAreCut) {
  EXPECT_EQ(name_of(intern(std::string(100'000, 'x'))).size(), kLongestName);
}

}  // namespace
}  // namespace anynpu::trace
