// SPDX-License-Identifier: Apache-2.0
// Pools of equal blocks of device memory. Blocks are reference-counted; without references a block
// is free again. Numbers of pools and blocks are never reused. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/result.h"

namespace anynpu::media {

class BlockPools {
 public:
  static constexpr uint32_t kAnyPool = UINT32_MAX;
  static constexpr uint32_t kMostBlocks = 65535;  // of a pool

  static BlockPools& instance();

  // The memory of all blocks, on the current device.
  Result<uint32_t> create(uint64_t block_bytes, uint32_t blocks);
  // Refused while a block has references.
  Status destroy(uint32_t pool);
  // A free block of at least `bytes` with one reference; not_complete when there is none.
  Result<uint32_t> take(uint32_t pool, uint64_t bytes);
  Status add_reference(uint32_t block);
  Status release(uint32_t block);
  Result<void*> address(uint32_t block);
  void destroy_all();

 private:
  struct Pool {
    uint8_t* memory = nullptr;
    uint64_t block_bytes = 0;
    std::vector<uint32_t> references;  // of each block
  };
  struct Block {
    Pool* pool;
    uint32_t index;
  };
  static Result<uint32_t> take_from(Pool& pool, uint32_t number, uint64_t bytes);
  Result<Pool*> find_pool(uint32_t pool);
  Result<Block> find_block(uint32_t block);  // one that has references

  std::mutex mutex_;
  std::map<uint32_t, Pool> pools_;
  uint32_t next_ = 0;
};

}  // namespace anynpu::media
