// SPDX-License-Identifier: Apache-2.0
#include "service/media/block_pool.h"

#include <algorithm>

#include "base/align.h"
#include "device/memory.h"
#include "service/media/memory.h"

namespace anynpu::media {
namespace {

constexpr uint64_t kAlignment = 128;
constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr uint32_t kMostPools = 65535;
constexpr uint32_t kIndexBits = 16;

}  // namespace

BlockPools& BlockPools::instance() {
  static auto& all = *new BlockPools;
  return all;
}

Result<uint32_t> BlockPools::create(uint64_t block_bytes, uint32_t blocks) {
  if (block_bytes == 0 || block_bytes > kMostBytes || blocks == 0 || blocks > kMostBlocks)
    return fail(Code::invalid_argument,
                "{} blocks of {} bytes; expected 1 to {} blocks of 1 to 2^40 bytes", blocks,
                block_bytes, kMostBlocks);
  const std::lock_guard lock(mutex_);
  if (next_ >= kMostPools)
    return fail(Code::limit_exceeded, "{} pools were made already", kMostPools);
  Pool pool;
  pool.block_bytes = round_up(block_bytes, kAlignment);
  ANYNPU_ASSIGN(void* memory, allocate(pool.block_bytes * blocks));
  pool.memory = static_cast<uint8_t*>(memory);
  pool.references.resize(blocks);
  pools_.emplace(next_, std::move(pool));
  return next_++;
}

Result<BlockPools::Pool*> BlockPools::find_pool(uint32_t pool) {
  const auto at = pools_.find(pool);
  if (at == pools_.end())
    return fail(Code::not_found, "there is no pool {}: never made, or destroyed", pool);
  return &at->second;
}

Result<BlockPools::Block> BlockPools::find_block(uint32_t block) {
  const auto at = pools_.find(block >> kIndexBits);
  const uint32_t index = block & ((1u << kIndexBits) - 1);
  if (at == pools_.end() || index >= at->second.references.size() ||
      at->second.references[index] == 0)
    return fail(Code::not_found, "there is no block {:#x}: never given, or released", block);
  return Block{&at->second, index};
}

Status BlockPools::destroy(uint32_t pool) {
  const std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(Pool * found, find_pool(pool));
  const auto used = static_cast<uint64_t>(std::count_if(
      found->references.begin(), found->references.end(), [](uint32_t n) { return n > 0; }));
  if (used > 0)
    return fail(Code::bad_call_order, "{} blocks of pool {} are in use; release them first", used,
                pool);
  const Status freed = device::free_device(found->memory);
  pools_.erase(pool);
  return freed;
}

Result<uint32_t> BlockPools::take_from(Pool& pool, uint32_t number, uint64_t bytes) {
  if (bytes > pool.block_bytes)
    return fail(Code::invalid_argument, "a block of {} bytes; pool {} has blocks of {}", bytes,
                number, pool.block_bytes);
  for (size_t i = 0; i < pool.references.size(); ++i) {
    if (pool.references[i] > 0) continue;
    pool.references[i] = 1;
    return number << kIndexBits | static_cast<uint32_t>(i);
  }
  return fail(Code::not_complete, "all {} blocks of pool {} are in use", pool.references.size(),
              number);
}

Result<uint32_t> BlockPools::take(uint32_t pool, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (pool != kAnyPool) {
    ANYNPU_ASSIGN(Pool * found, find_pool(pool));
    return take_from(*found, pool, bytes);
  }
  for (auto& [number, candidate] : pools_) {
    auto block = take_from(candidate, number, bytes);
    if (block.ok()) return block;
  }
  return fail(Code::not_complete, "no pool has a free block of {} bytes", bytes);
}

Status BlockPools::add_reference(uint32_t block) {
  const std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const Block found, find_block(block));
  ++found.pool->references[found.index];
  return {};
}

Status BlockPools::release(uint32_t block) {
  const std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const Block found, find_block(block));
  --found.pool->references[found.index];
  return {};
}

Result<void*> BlockPools::address(uint32_t block) {
  const std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const Block found, find_block(block));
  return static_cast<void*>(found.pool->memory + found.pool->block_bytes * found.index);
}

void BlockPools::destroy_all() {
  const std::lock_guard lock(mutex_);
  for (auto& [number, pool] : pools_) (void)device::free_device(pool.memory);
  pools_.clear();
}

}  // namespace anynpu::media
