// SPDX-License-Identifier: Apache-2.0
#include "base/pin_cells.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace anynpu {
namespace {

void unpin(PinCell* cell) { cell->store(nullptr, std::memory_order_release); }

TEST(PinCells, AnObjectIsInACellUntilItIsReleased) {
  int object = 0, other = 0;
  EXPECT_FALSE(is_in_cell(&object));
  PinCell* const cell = pin_in_cell(&object);
  ASSERT_NE(cell, nullptr);
  EXPECT_TRUE(is_in_cell(&object));
  EXPECT_FALSE(is_in_cell(&other));
  unpin(cell);
  EXPECT_FALSE(is_in_cell(&object));
}

TEST(PinCells, AThreadHasAFewCells) {
  int objects[PinRow::kCells + 1];
  std::vector<PinCell*> cells;
  for (size_t i = 0; i < PinRow::kCells; ++i) cells.push_back(pin_in_cell(&objects[i]));
  for (PinCell* cell : cells) ASSERT_NE(cell, nullptr);
  EXPECT_EQ(pin_in_cell(&objects[PinRow::kCells]), nullptr);
  unpin(cells[2]);
  PinCell* const again = pin_in_cell(&objects[PinRow::kCells]);
  EXPECT_EQ(again, cells[2]);
  for (PinCell* cell : cells) unpin(cell);
}

TEST(PinCells, CellsOfOtherThreadsAreSearchedToo) {
  int object = 0;
  std::atomic<PinCell*> cell{nullptr};
  std::atomic<bool> end{false};
  std::thread other([&] {
    cell = pin_in_cell(&object);
    while (!end) std::this_thread::yield();
  });
  while (!cell.load()) std::this_thread::yield();
  EXPECT_TRUE(is_in_cell(&object));
  unpin(cell);  // from any thread
  EXPECT_FALSE(is_in_cell(&object));
  end = true;
  other.join();
}

TEST(PinCells, WaitingEndsWhenTheCellWasReleased) {
  int object = 0;
  wait_until_unpinned(&object);  // nobody has it
  PinCell* const cell = pin_in_cell(&object);
  std::atomic<bool> released{false};
  std::thread waiter([&] {
    wait_until_unpinned(&object);
    EXPECT_TRUE(released);
  });
  std::this_thread::yield();
  released = true;
  unpin(cell);
  waiter.join();
}

TEST(PinCells, ThreadsThatFollowEachOtherUseTheSameRow) {
  int object = 0;
  std::vector<PinCell*> cells;
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      cells.push_back(pin_in_cell(&object));
      unpin(cells.back());
    }).join();
  }
  EXPECT_EQ(cells[1], cells[2]);
  barrier_on_all_threads();
}

// A reader that finds the object still there may use it: the remover waits for it.
TEST(PinCells, NoReaderSeesAnObjectThatWasFreed) {
  struct Object {
    std::atomic<int> alive{1};
  };
  std::atomic<Object*> shared{new Object};
  std::atomic<bool> end{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!end) {
        Object* const object = shared.load();
        PinCell* const cell = pin_in_cell(object);
        if (shared.load() == object) {
          EXPECT_EQ(object->alive, 1);
        }
        unpin(cell);
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    Object* const old = shared.exchange(new Object);
    wait_until_unpinned(old);
    old->alive = 0;
    delete old;
  }
  end = true;
  for (std::thread& reader : readers) reader.join();
  delete shared.load();
}

}  // namespace
}  // namespace anynpu
