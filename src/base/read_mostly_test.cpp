// SPDX-License-Identifier: Apache-2.0
#include "base/read_mostly.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace anynpu {
namespace {

TEST(ReadMostly, ReadersSeeWhatWasChangedLast) {
  ReadMostly<std::vector<int>> list;
  EXPECT_TRUE(list.read()->empty());
  list.change([](std::vector<int>& value) { value = {1, 2}; });
  list.change([](std::vector<int>& value) { value.push_back(3); });
  EXPECT_EQ(*list.read(), (std::vector<int>{1, 2, 3}));
}

TEST(ReadMostly, AReaderHasOneVersionWhole) {
  ReadMostly<std::vector<int>> list;
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      while (!done) {
        const auto reading = list.read();
        for (const int x : *reading) {
          if (x != static_cast<int>(reading->size())) ++torn;
        }
      }
    });
  }
  for (int i = 0; i < 5000; ++i) {
    const int count = i % 40;
    list.change([&](std::vector<int>& value) { value.assign(static_cast<size_t>(count), count); });
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

TEST(ReadMostly, AChangeReturnsWhenNobodyReadsTheVersionBefore) {
  struct Tracked {
    std::shared_ptr<int> alive;
  };
  ReadMostly<Tracked> value;
  value.change([](Tracked& tracked) { tracked.alive = std::make_shared<int>(1); });
  const std::weak_ptr<int> before = value.read()->alive;
  std::atomic<int> step{0};
  std::atomic<bool> alive_in_reading{false};
  std::thread reader([&] {
    const auto reading = value.read();
    step = 1;
    while (step != 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    alive_in_reading = !before.expired() && *reading->alive == 1;
  });
  while (step != 1) std::this_thread::yield();
  step = 2;
  value.change([](Tracked& tracked) { tracked.alive = nullptr; });
  EXPECT_TRUE(before.expired());
  reader.join();
  EXPECT_TRUE(alive_in_reading);
}

TEST(ReadMostly, AThreadWithoutAFreeCellReadsToo) {
  ReadMostly<int> value;
  int things[16];
  std::vector<PinCell*> cells;
  for (int& thing : things) {
    if (PinCell* cell = pin_in_cell(&thing)) cells.push_back(cell);
  }
  value.change([](int& number) { number = 5; });
  EXPECT_EQ(*value.read(), 5);
  for (PinCell* cell : cells) cell->store(nullptr);
}

}  // namespace
}  // namespace anynpu
