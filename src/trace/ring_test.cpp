// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
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

TEST(Ring, GivesEventsBackInOrderAcrossManyBlocks) {
  BlockPool pool(3, 8);
  Ring ring(pool);
  uint64_t next = 0;
  uint64_t expected = 0;
  for (int lap = 0; lap < 100; ++lap) {
    for (int i = 0; i < 5; ++i) ring.push(numbered(next++));
    for (uint64_t number : take_all(ring)) EXPECT_EQ(number, expected++);
  }
  EXPECT_EQ(expected, next);
  EXPECT_EQ(ring.take_lost(), 0u);
}

TEST(Ring, KeepsTheFirstEventsAndCountsTheRestWhenThePoolIsEmpty) {
  BlockPool pool(2, 8);
  Ring ring(pool);
  for (uint64_t i = 0; i < 20; ++i) ring.push(numbered(i));
  const std::vector<uint64_t> kept = take_all(ring);
  ASSERT_EQ(kept.size(), 16u);
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(kept[i], i);
  EXPECT_EQ(ring.take_lost(), 4u);
  EXPECT_EQ(ring.take_lost(), 0u);
  ring.push(numbered(99));
  EXPECT_EQ(take_all(ring), std::vector<uint64_t>{99});
}

TEST(Ring, OneThreadMayUseWhatTheOthersLeave) {
  BlockPool pool(8, 8);
  Ring quiet(pool), busy(pool);
  quiet.push(numbered(1));
  for (uint64_t i = 0; i < 100; ++i) busy.push(numbered(i));
  EXPECT_EQ(take_all(busy).size(), 7u * 8u);
  EXPECT_EQ(busy.take_lost(), 100u - 7u * 8u);
  quiet.push(numbered(2));
  EXPECT_EQ(take_all(quiet), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(quiet.take_lost(), 0u);
}

TEST(Ring, APoolWithoutMemoryLosesEverything) {
  BlockPool pool(0, 8);
  Ring ring(pool);
  ring.push(numbered(1));
  EXPECT_EQ(take_all(ring).size(), 0u);
  EXPECT_EQ(ring.take_lost(), 1u);
}

TEST(Ring, ANewOwnerOfAFullRingRecordsNothingUnderTheOldName) {
  BlockPool pool(2, 8);
  Ring ring(pool);
  for (uint64_t i = 0; i < 16; ++i) ring.push(numbered(i));
  ring.give_back();
  ASSERT_TRUE(ring.take());
  EXPECT_FALSE(ring.take()) << "a ring has one owner";
  ring.name_owner(make_event(Category::count, Phase::thread, 0, 0, 0, 0, 4242));
  ring.push(numbered(100));
  EXPECT_EQ(take_all(ring).size(), 16u);
  EXPECT_EQ(ring.take_lost(), 1u);
  ring.push(numbered(101));
  EXPECT_EQ(take_all(ring), (std::vector<uint64_t>{4242, 101}));
}

TEST(Ring, TheNameOfANewOwnerMayFillTheBlock) {
  BlockPool pool(2, 8);
  Ring ring(pool);
  for (uint64_t i = 0; i < 7; ++i) ring.push(numbered(i));
  ring.give_back();
  ASSERT_TRUE(ring.take());
  ring.name_owner(make_event(Category::count, Phase::thread, 0, 0, 0, 0, 4242));
  ring.push(numbered(7));
  EXPECT_EQ(take_all(ring), (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 4242, 7}));
}

std::atomic<uint64_t> hooks{0};

TEST(Ring, WakesTheDrainAsItFills) {
  Ring::fill_hook = [] { ++hooks; };
  hooks = 0;
  BlockPool large(8192, 8);
  Ring often(large);
  for (uint64_t i = 0; i < Ring::kHookEvents; ++i) often.push(numbered(i));
  EXPECT_EQ(hooks, 1u) << "when it starts";
  often.push(numbered(0));
  EXPECT_EQ(hooks, 2u);
  hooks = 0;
  BlockPool small(4, 8);
  Ring soon(small);
  for (uint64_t i = 0; i < 32; ++i) soon.push(numbered(i));
  EXPECT_EQ(hooks, 4u) << "when it starts, and for the blocks from half of the pool on";
  Ring::fill_hook = nullptr;
}

// Several threads over one pool, one drain: blocks wander between the rings.
TEST(Ring, ConsumerRunsWhileTheProducersRecord) {
  constexpr uint64_t kEvents = 200'000;
  constexpr size_t kRings = 4;
  BlockPool pool(64, 8);
  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<std::thread> producers;
  for (size_t r = 0; r < kRings; ++r) {
    rings.push_back(std::make_unique<Ring>(pool));
    producers.emplace_back([ring = rings.back().get()] {
      for (uint64_t i = 0; i < kEvents; ++i) ring->push(numbered(i));
    });
  }
  uint64_t seen[kRings] = {}, lost[kRings] = {}, next[kRings] = {};
  const auto drain_once = [&] {
    uint64_t sum = 0;
    for (size_t r = 0; r < kRings; ++r) {
      for (uint64_t number : take_all(*rings[r])) {
        EXPECT_GE(number, next[r]);
        next[r] = number + 1;
        ++seen[r];
      }
      lost[r] += rings[r]->take_lost();
      sum += seen[r] + lost[r];
    }
    return sum;
  };
  while (drain_once() < kRings * kEvents) {
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(drain_once(), kRings * kEvents);
  for (size_t r = 0; r < kRings; ++r) EXPECT_EQ(seen[r] + lost[r], kEvents);
}

TEST(BlockPool, HandsOutEachBlockOnceAndUsedOnesFirst) {
  BlockPool pool(3, 5);
  EXPECT_EQ(pool.block_events(), 8u);
  EXPECT_EQ(pool.bytes(), 3 * 8 * sizeof(Event));
  const auto first = pool.take();
  EXPECT_EQ(pool.events(first), pool.events(0)) << "untouched memory is taken in order";
  EXPECT_FALSE(pool.half_full());
  const auto second = pool.take();
  EXPECT_TRUE(pool.half_full());
  EXPECT_NE(first, second);
  const uint64_t returns = pool.returns();
  pool.give_back(first);
  EXPECT_NE(pool.returns(), returns);
  EXPECT_EQ(pool.take(), first);
  const auto third = pool.take();
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
  EXPECT_EQ(pool.take(), BlockPool::kNone);
}

}  // namespace
}  // namespace anynpu::trace
