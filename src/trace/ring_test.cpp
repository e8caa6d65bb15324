// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace anynpu::trace {
namespace {

Event numbered(uint64_t number) {
  return make_event(Category::user, Phase::instant, 1, number, 0, 0, number);
}

std::vector<uint64_t> take_all(Ring& ring) {
  std::vector<uint64_t> numbers;
  ring.consume([&](const Event* events, size_t count) {
    for (size_t i = 0; i < count; ++i) numbers.push_back(events[i].arg);
  });
  return numbers;
}

TEST(Ring, GivesEventsBackInOrderAcrossManyLaps) {
  Ring ring(8);
  uint64_t next = 0;
  uint64_t expected = 0;
  for (int lap = 0; lap < 100; ++lap) {
    for (int i = 0; i < 5; ++i) ring.push(numbered(next++));
    for (uint64_t number : take_all(ring)) EXPECT_EQ(number, expected++);
  }
  EXPECT_EQ(expected, next);
  EXPECT_EQ(ring.take_lost(), 0u);
}

TEST(Ring, KeepsTheFirstEventsAndCountsTheRestWhenFull) {
  Ring ring(8);
  for (uint64_t i = 0; i < 20; ++i) ring.push(numbered(i));
  EXPECT_EQ(take_all(ring), (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ring.take_lost(), 12u);
  EXPECT_EQ(ring.take_lost(), 0u);
  ring.push(numbered(99));
  EXPECT_EQ(take_all(ring), std::vector<uint64_t>{99});
}

TEST(Ring, CapacityIsAPowerOfTwo) {
  EXPECT_EQ(Ring(0).capacity(), 8u);
  EXPECT_EQ(Ring(100).capacity(), 128u);
}

TEST(Ring, ANewOwnerOfAFullRingRecordsNothingUnderTheOldName) {
  Ring ring(8);
  for (uint64_t i = 0; i < 8; ++i) ring.push(numbered(i));
  ring.give_back();
  ASSERT_TRUE(ring.take());
  EXPECT_FALSE(ring.take()) << "a ring has one owner";
  ring.name_owner(make_event(Category::count, Phase::thread, 0, 0, 0, 0, 4242));
  ring.push(numbered(100));
  EXPECT_EQ(take_all(ring).size(), 8u);
  EXPECT_EQ(ring.take_lost(), 1u);
  ring.push(numbered(101));
  EXPECT_EQ(take_all(ring), (std::vector<uint64_t>{4242, 101}));
}

TEST(Ring, ConsumerRunsWhileTheProducerRecords) {
  constexpr uint64_t kEvents = 200'000;
  Ring ring(256);
  std::thread producer([&] {
    for (uint64_t i = 0; i < kEvents; ++i) ring.push(numbered(i));
  });
  uint64_t seen = 0;
  uint64_t lost = 0;
  uint64_t last = 0;
  auto drain_once = [&] {
    for (uint64_t number : take_all(ring)) {
      EXPECT_TRUE(seen == 0 || number > last);
      last = number;
      ++seen;
    }
    lost += ring.take_lost();
  };
  while (seen + lost < kEvents) drain_once();
  producer.join();
  drain_once();
  EXPECT_EQ(seen + lost, kEvents);
}

}  // namespace
}  // namespace anynpu::trace
