// SPDX-License-Identifier: Apache-2.0
#include "device/range_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "base/pin_cells.h"

namespace anynpu::device {
namespace {

std::shared_ptr<Allocation> range(uintptr_t base, size_t bytes, int32_t device_id = 0) {
  auto made = std::make_shared<Allocation>();
  made->base = base;
  made->bytes = bytes;
  made->device_id = device_id;
  return made;
}

TEST(RangeMap, FindsTheAllocationAroundAnAddress) {
  RangeMap map;
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_TRUE(map.insert(range(0x1000, 0x100)));
  EXPECT_TRUE(map.insert(range(0x1100, 0x10)));
  EXPECT_EQ(map.find(0xfff), nullptr);
  EXPECT_EQ(map.find(0x1000)->base, 0x1000u);
  EXPECT_EQ(map.find(0x10ff)->base, 0x1000u);
  EXPECT_EQ(map.find(0x1100)->base, 0x1100u);
  EXPECT_EQ(map.find(0x1110), nullptr);
  EXPECT_EQ(map.find(UINTPTR_MAX), nullptr);
}

TEST(RangeMap, RefusesWhatOverlapsAndTakesOutByStartAndKind) {
  RangeMap map;
  ASSERT_TRUE(map.insert(range(0x1000, 0x100)));
  EXPECT_FALSE(map.insert(range(0x1000, 0x100)));
  EXPECT_FALSE(map.insert(range(0x10ff, 1)));
  EXPECT_FALSE(map.insert(range(0xf00, 0x101)));
  EXPECT_EQ(map.remove(0x1001, MemoryKind::device), nullptr);
  EXPECT_EQ(map.remove(0x1000, MemoryKind::host), nullptr);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_NE(map.remove(0x1000, MemoryKind::device), nullptr);
  EXPECT_EQ(map.remove(0x1000, MemoryKind::device), nullptr);
  EXPECT_EQ(map.size(), 0u);
  EXPECT_TRUE(map.insert(range(0xf00, 0x101)));
}

TEST(RangeMap, AgreesWithAnOrderedMapOverManyChanges) {
  RangeMap map;
  std::map<uintptr_t, size_t> model;
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const uintptr_t base = 64 + random() % 4096 * 16;
    const size_t bytes = 1 + random() % 48;
    auto next = model.lower_bound(base);
    const bool hits =
        (next != model.end() && next->first < base + bytes) ||
        (next != model.begin() && std::prev(next)->first + std::prev(next)->second > base);
    if (random() % 2) {
      ASSERT_EQ(map.insert(range(base, bytes)), !hits);
      if (!hits) model[base] = bytes;
    } else {
      ASSERT_EQ(map.remove(base, MemoryKind::device) != nullptr, model.erase(base) == 1);
    }
    const uintptr_t address = random() % (4200 * 16);
    next = model.upper_bound(address);
    const bool inside =
        next != model.begin() && address < std::prev(next)->first + std::prev(next)->second;
    const auto found = map.find(address);
    ASSERT_EQ(found != nullptr, inside);
    if (inside) {
      ASSERT_EQ(found->base, std::prev(next)->first);
    }
    ASSERT_EQ(map.size(), model.size());
  }
}

TEST(RangeMap, EverythingOfADeviceIsTakenOutAtOnce) {
  RangeMap map;
  for (uintptr_t i = 1; i <= 1000; ++i)
    ASSERT_TRUE(map.insert(range(i * 64, 64, static_cast<int32_t>(i % 3))));
  const auto removed = map.remove_device(1);
  EXPECT_EQ(removed.size(), 334u);
  for (const auto& allocation : removed) EXPECT_EQ(allocation->device_id, 1);
  for (uintptr_t i = 1; i <= 1000; ++i) EXPECT_EQ(map.find(i * 64) != nullptr, i % 3 != 1) << i;
}

TEST(RangeMap, IsReadWhileOthersChangeIt) {
  RangeMap map;
  constexpr uintptr_t kStays = 500 * 64;
  ASSERT_TRUE(map.insert(range(kStays, 64)));
  std::atomic<bool> done{false};
  std::atomic<int> lost{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      while (!done) {
        if (!map.find(kStays + 5)) ++lost;
        const uintptr_t address = random() % (1000 * 64);
        const auto found = map.find(address);
        if (found && !found->covers(address, 1)) ++wrong;
      }
    });
  }
  std::mt19937 random(9);
  for (int i = 0; i < 20'000; ++i) {
    const uintptr_t base = random() % 1000 * 64;
    if (base == kStays) continue;
    if (map.insert(range(base, 64))) continue;
    EXPECT_NE(map.remove(base, MemoryKind::device), nullptr);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(RangeMap, AThreadWithoutAFreeCellFindsRangesToo) {
  RangeMap map;
  ASSERT_TRUE(map.insert(range(64, 64)));
  int things[16];
  std::vector<PinCell*> cells;
  for (int& thing : things) {
    if (PinCell* cell = pin_in_cell(&thing)) cells.push_back(cell);
  }
  ASSERT_LT(cells.size(), 16u);
  EXPECT_NE(map.find(100), nullptr);
  for (PinCell* cell : cells) cell->store(nullptr);
}

}  // namespace
}  // namespace anynpu::device
