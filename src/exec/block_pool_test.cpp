// SPDX-License-Identifier: Apache-2.0
#include "exec/block_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace anynpu::exec {
namespace {

TEST(BlockPool, BlocksAreAlignedLargeEnoughAndUsedAgain) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{65}, size_t{100'000},
                       size_t{4} << 20, (size_t{4} << 20) + 1}) {
    auto block = take_block(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0u);
    if (bytes > 0) std::memset(block.get(), 7, bytes);
    const std::byte* const where = block.get();
    block.reset();
    if (bytes <= size_t{4} << 20) {
      EXPECT_EQ(take_block(bytes).get(), where) << bytes;
    }
  }
}

TEST(BlockPool, ABlockStaysAsLongAsAnyOwnerHasIt) {
  auto block = take_block(256);
  std::memset(block.get(), 1, 256);
  const std::shared_ptr<std::byte> part(block, block.get() + 128);  // a view into it
  const std::weak_ptr<std::byte> watcher = block;
  block.reset();
  EXPECT_EQ(*part, std::byte{1});
  EXPECT_NE(take_block(256).get(), part.get() - 128);
  EXPECT_FALSE(watcher.expired());
}

TEST(BlockPool, ThreadsTakeAndGiveAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      std::vector<std::shared_ptr<std::byte>> held;
      for (int i = 0; i < 2000; ++i) {
        const size_t bytes = static_cast<size_t>(i % 13 + 1) * 100;
        held.push_back(take_block(bytes));
        std::memset(held.back().get(), t, bytes);
        if (held.size() > 8) {
          EXPECT_EQ(*held.front(), std::byte(t));  // nobody else wrote to it
          held.erase(held.begin());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace anynpu::exec
