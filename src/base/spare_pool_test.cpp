// SPDX-License-Identifier: Apache-2.0
#include "base/spare_pool.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace anynpu {
namespace {

struct Counted {
  explicit Counted(std::atomic<int>& count) : count(count) { ++count; }
  ~Counted() { --count; }
  std::atomic<int>& count;
  std::atomic<int> users{0};
};

TEST(SparePool, GivesBackWhatItWasGivenAndDeletesTheRest) {
  std::atomic<int> alive{0};
  {
    SparePool<Counted, 2> pool;
    EXPECT_EQ(pool.take(), nullptr);
    for (int i = 0; i < 3; ++i) pool.give(std::make_unique<Counted>(alive));
    EXPECT_EQ(alive, 2) << "a pool of two keeps two";
    EXPECT_NE(pool.take(), nullptr);
    EXPECT_EQ(alive, 1) << "what was taken belongs to the caller";
  }
  EXPECT_EQ(alive, 0);
}

TEST(SparePool, AnObjectIsTakenByOneThreadAtATime) {
  std::atomic<int> alive{0}, shared{0};
  SparePool<Counted, 4> pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        auto object = pool.take();
        if (!object) object = std::make_unique<Counted>(alive);
        if (object->users.fetch_add(1) != 0) ++shared;
        object->users.fetch_sub(1);
        pool.give(std::move(object));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared, 0);
  EXPECT_LE(alive, 4);
}

}  // namespace
}  // namespace anynpu
