// SPDX-License-Identifier: Apache-2.0
#include "exec/arena.h"

#include <gtest/gtest.h>

namespace anynpu::exec {
namespace {

TEST(Arena, BuffersThatLiveTogetherDoNotOverlap) {
  std::vector<ArenaBuffer> buffers;
  unsigned state = 1;
  for (int i = 0; i < 200; ++i) {
    state = state * 1103515245u + 12345u;
    const int first = static_cast<int>(state >> 16) % 50;
    buffers.push_back({(state >> 8) % 5000, first, first + static_cast<int>(state >> 20) % 8});
  }
  const size_t total = place_buffers(buffers);
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(buffers[i].offset % 64, 0u);
    EXPECT_LE(buffers[i].offset + buffers[i].bytes, total);
    for (size_t j = 0; j < i; ++j) {
      const ArenaBuffer &a = buffers[i], &b = buffers[j];
      const bool apart = a.last_step < b.first_step || b.last_step < a.first_step;
      EXPECT_TRUE(apart || a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
    }
  }
}

TEST(Arena, ABufferIsReusedOnceItsLastReaderHasRun) {
  std::vector<ArenaBuffer> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(place_buffers(chain), 2048u);
}

}  // namespace
}  // namespace anynpu::exec
