// SPDX-License-Identifier: Apache-2.0
#include "exec/block_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "base/spare_pool.h"
#include "exec/count_in_block.h"
#include "ops/kernel.h"

namespace anynpu::exec {

namespace {

constexpr size_t kUnit = ops::kBufferAlignment;
constexpr int kSmallest = 6, kSmall = 16, kLargest = 22;  // powers of two: 64 B, 64 KiB, 4 MiB

// In front of the bytes.
struct alignas(kUnit) Block {
  int power = 0;
  alignas(8) std::byte owners[kOwnersBytes];
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  static void give_back(Block* block);
};
static_assert(sizeof(Block) == kUnit);

// A pool keeps its objects by pointer: blocks are handed to it as if they were new'd.
struct Handle {
  static void operator delete(void* block) { std::free(block); }
};
static_assert(sizeof(Handle) <= sizeof(Block));

struct Lists {
  std::array<SparePool<Handle, 64>, kSmall - kSmallest + 1> small;
  std::array<SparePool<Handle, 8>, kLargest - kSmall> large;
};

Lists& lists() {
  static auto* made = new Lists;  // never destroyed: blocks may come back at the very end
  return *made;
}

Block* take(int power) {
  if (power > kLargest) return nullptr;
  const auto at = static_cast<size_t>(power <= kSmall ? power - kSmallest : power - kSmall - 1);
  auto spare = power <= kSmall ? lists().small[at].take() : lists().large[at].take();
  return reinterpret_cast<Block*>(spare.release());
}

void Block::give_back(Block* block) {
  const int power = block->power;
  if (power > kLargest) return std::free(block);
  const auto at = static_cast<size_t>(power <= kSmall ? power - kSmallest : power - kSmall - 1);
  std::unique_ptr<Handle> handle(reinterpret_cast<Handle*>(block));
  if (power <= kSmall) {
    lists().small[at].give(std::move(handle));
  } else {
    lists().large[at].give(std::move(handle));
  }
}

}  // namespace

std::shared_ptr<std::byte> take_block(size_t bytes) {
  const int power =
      std::max<int>(kSmallest, static_cast<int>(std::bit_width(std::max<size_t>(bytes, 1) - 1)));
  Block* block = take(power);
  if (!block) {
    // Kept blocks have the size of their list; others the requested size.
    const size_t room = power <= kLargest ? size_t{1} << power : (bytes / kUnit + 1) * kUnit;
    block = static_cast<Block*>(std::aligned_alloc(kUnit, sizeof(Block) + room));
    if (!block) return nullptr;
    block->power = power;
  }
  return own_in_block(block, block->data());
}

}  // namespace anynpu::exec
