// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "prof/clock_line.h"
#include "prof/collector.h"
#include "prof/config.h"
#include "prof/event_file.h"
#include "prof/ownership.h"
#include "prof/stamps.h"
#include "prof/subscription.h"

namespace anynpu::prof {
namespace {

TEST(ConfigTest, bits_bring_along_what_the_documents_say) {
  using namespace bits;
  EXPECT_EQ(with_implied(kTaskTime), kTaskTime | kTaskTimeL0 | kTrainingTrace);
  EXPECT_EQ(with_implied(kTaskTimeL3),
            kTaskTimeL3 | kTaskTimeL2 | kTaskTime | kTaskTimeL0 | kTrainingTrace);
  EXPECT_EQ(with_implied(kOpAttr), kOpAttr | kTaskTime | kTaskTimeL0 | kTrainingTrace);
  EXPECT_EQ(with_implied(kApiStats | kMsproftx), kApiStats | kAclApi);
  EXPECT_EQ(categories_of(kMsproftx), trace::bit(trace::Category::user));
  EXPECT_EQ(categories_of(0), 0u);
}

TEST(ConfigTest, switches_of_acl_json_become_bits) {
  EXPECT_EQ(data_types_of({{"ascendcl", "off"}, {"runtime_api", "off"}, {"task_time", "off"}}), 0u);
  EXPECT_EQ(data_types_of({{"ascendcl", "off"}, {"runtime_api", "off"}, {"task_time", "l0"}}),
            bits::kTaskTimeL0 | bits::kTrainingTrace);
  EXPECT_TRUE(data_types_of({}) & bits::kAclApi);
}

TEST(ClockLineTest, times_follow_the_clock_and_never_go_back) {
  constexpr uint64_t kApart = 10'000'000;  // a pause of seconds at a rate good to 0.1 %
  ClockLine line;
  uint64_t before = 0;
  for (int i = 0; i < 300; ++i) {
    const uint64_t begin = now_ns();
    const uint64_t converted = line.to_ns(ticks());
    const uint64_t end = now_ns();
    EXPECT_GE(converted, before);
    EXPECT_GT(converted + kApart, begin);
    EXPECT_LT(converted, end + kApart);
    before = converted;
    line.advance();
    if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(110));
  }
}

TEST(ClockLineTest, a_tick_keeps_its_time_when_the_line_goes_on) {
  ClockLine line;
  const uint64_t tick = ticks();
  const uint64_t first = line.to_ns(tick);
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  line.advance();
  EXPECT_EQ(line.to_ns(tick), first);
}

TEST(EventFileTest, stays_below_the_storage_limit_and_says_so) {
  constexpr uint64_t kMost = 100'000;
  const std::string path = testing::TempDir() + "limited.events" + std::to_string(getpid());
  auto file = EventFile::create(path, kMost);
  ASSERT_TRUE(file.ok());
  const ClockLine clock;
  const std::vector<trace::Event> events(
      1000, trace::make_event(trace::Category::user, trace::Phase::instant, 0, ticks(), 0, 0, 0));
  for (int i = 0; i < 10; ++i) {  // 32 KB each
    file->add({1, 0}, events, clock, trace::kAllCategories);
    file->flush();
  }
  const Status status = file->finish();
  EXPECT_EQ(status.code(), Code::limit_exceeded);
  EXPECT_NE(status.to_string().find("storage_limit"), std::string::npos);
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_LE(static_cast<uint64_t>(found.st_size), kMost);
  EXPECT_GT(static_cast<uint64_t>(found.st_size), kMost / 2);
  ::unlink(path.c_str());
}

class Counter : public Sink {
 public:
  explicit Counter(trace::Mask mask) : Sink(mask) {}
  void take(const trace::ThreadInfo&, std::span<const trace::Event> events,
            const ClockLine&) override {
    while (held) std::this_thread::yield();
    taken += events.size();
  }
  void take_lost(const trace::ThreadInfo&, uint64_t count) override { lost += count; }
  std::atomic<bool> held{false};
  std::atomic<uint64_t> taken{0}, lost{0};
};
constexpr uint64_t kEventsOfAMark = 2;  // itself and its detail

TEST(CollectorTest, every_event_of_every_thread_arrives_or_is_counted_as_lost) {
  auto counter = std::make_shared<Counter>(trace::bit(trace::Category::user));
  ASSERT_TRUE(Collector::instance().add(counter).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200'000; ++i) mark({});
    });
  }
  for (std::thread& thread : threads) thread.join();
  Collector::instance().remove(counter);
  EXPECT_EQ(counter->taken + counter->lost, 800'000 * kEventsOfAMark);
  EXPECT_FALSE(stamps_on());
}

TEST(CollectorTest, a_collector_that_is_held_up_for_a_while_loses_nothing) {
  auto counter = std::make_shared<Counter>(trace::bit(trace::Category::user));
  ASSERT_TRUE(Collector::instance().add(counter).ok());
  counter->held = true;  // as a disk that takes its time, or a machine that has none
  constexpr uint64_t kMarks = 5 * 50'000;
  for (uint64_t i = 0; i < kMarks; ++i) mark({});
  counter->held = false;
  Collector::instance().remove(counter);
  EXPECT_EQ(counter->lost, 0u);
  EXPECT_EQ(counter->taken, kMarks * kEventsOfAMark);
}

TEST(CollectorTest, what_finds_no_room_is_counted_as_lost) {
  auto counter = std::make_shared<Counter>(trace::bit(trace::Category::user));
  ASSERT_TRUE(Collector::instance().add(counter).ok());
  counter->held = true;
  constexpr uint64_t kMarks = trace::kPoolEvents / kEventsOfAMark + 1000;
  for (uint64_t i = 0; i < kMarks; ++i) mark({});
  counter->held = false;
  Collector::instance().remove(counter);
  EXPECT_GE(counter->lost, 1000u);
  EXPECT_EQ(counter->taken + counter->lost, kMarks * kEventsOfAMark);
}

TEST(CollectorTest, starting_and_stopping_often_is_harmless) {
  for (int i = 0; i < 200; ++i) {
    auto counter = std::make_shared<Counter>(trace::bit(trace::Category::user));
    ASSERT_TRUE(Collector::instance().add(counter).ok());
    mark({});
    Collector::instance().remove(counter);
    EXPECT_EQ(counter->taken, kEventsOfAMark);
  }
}

TEST(StampTest, pop_without_push_and_unknown_ranges_fail) {
  EXPECT_EQ(pop().code(), Code::bad_call_order);
  EXPECT_EQ(stop_range(12345).code(), Code::not_found);
  const uint32_t range = start_range({});
  EXPECT_TRUE(stop_range(range).ok());
  EXPECT_FALSE(stop_range(range).ok());
}

TEST(OwnershipTest, one_party_at_a_time) {
  EXPECT_TRUE(claim(Owner::program));
  EXPECT_FALSE(claim(Owner::subscription));
  release(Owner::subscription);
  EXPECT_EQ(owner(), Owner::program);
  release(Owner::program);
  EXPECT_EQ(owner(), Owner::nobody);
}

TEST(SubscriptionTest, records_that_are_none_are_refused) {
  OpRecord record{};
  EXPECT_FALSE(read_record(&record, sizeof record, 0).ok());
  EXPECT_FALSE(count_records(&record, sizeof record - 1).ok());
  EXPECT_FALSE(count_records(nullptr, sizeof record).ok());
  EXPECT_FALSE(make_subscribe_config(-1, true, 0xFF).ok());
}

}  // namespace
}  // namespace anynpu::prof
