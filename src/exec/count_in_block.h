// SPDX-License-Identifier: Apache-2.0
// shared_ptr to pooled objects without an allocation: the control block is inside the block it
// owns, and both go back to the pool together.
#pragma once

#include <cstddef>
#include <memory>

namespace anynpu::exec {

constexpr size_t kOwnersBytes = 48;  // what a shared_ptr with a deleter and an allocator needs

// `Block` has a member `std::byte owners[kOwnersBytes]`, aligned to 8, and give_back(block).
template <typename Block, typename T = std::byte>
struct CountInBlock {
  using value_type = T;
  template <typename U>
  struct rebind {
    using other = CountInBlock<Block, U>;
  };
  Block* block;
  explicit CountInBlock(Block* where) : block(where) {}
  template <typename U>
  CountInBlock(const CountInBlock<Block, U>& other)
      : block(other.block) {}  // NOLINT: as allocators do
  T* allocate(size_t) {
    static_assert(sizeof(T) <= kOwnersBytes);
    static_assert(alignof(T) <= 8);
    return reinterpret_cast<T*>(block->owners);
  }
  void deallocate(T*, size_t) { Block::give_back(block); }
  template <typename U>
  bool operator==(const CountInBlock<Block, U>& other) const {
    return block == other.block;
  }
};

// The first owner of `object`, which is part of `block`.
template <typename Block, typename T>
std::shared_ptr<T> own_in_block(Block* block, T* object) {
  return {object, [](T*) {}, CountInBlock<Block>(block)};
}

}  // namespace anynpu::exec
