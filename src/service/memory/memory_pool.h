// SPDX-License-Identifier: Apache-2.0
// Device memory pools with stream-ordered allocation. A freed block stays in the pool: the next
// request of about that size reuses it, at once on the same stream, on another stream as the
// attributes allow. Memory above the release threshold goes back to the device when the program
// waits for a stream. Thread-safe; a destroyed pool exists until its last block is
// freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/device.h"
#include "device/event.h"

namespace anynpu::service {

enum class PoolAttribute : int {
  // uint32, 1 or 0: whether a block that was freed on another stream may be reused
  follow_events = 1,   // when this stream has waited for an event of the other one
  opportunistic = 2,   // when the other stream has finished the work before the free
  internal_waits = 3,  // by making this stream wait for the other one
  release_threshold = 4,
  reserved = 5,  // what the pool has from the device; read only
  reserved_peak = 6,
  used = 7,  // what is allocated from it; read only
  used_peak = 8,
};

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  // `most_bytes` 0: as much as the device has.
  MemoryPool(std::shared_ptr<device::Device> device, size_t most_bytes);

  Result<void*> take(size_t bytes, const std::shared_ptr<device::Stream>& stream);
  // Returns unused memory to the device, down to `keep` bytes.
  void trim(size_t keep);
  // The program has waited for a stream.
  void synchronized();

  // Attributes 1 to 3 have 4 bytes, the others 8.
  static Result<size_t> attribute_bytes(int attribute);
  Status set_attribute(PoolAttribute attribute, uint64_t value);
  uint64_t attribute(PoolAttribute attribute);

 private:
  friend Status give_back_to_pool(void* address, Handle stream);
  // Device memory; freed when the pool and the last task release it.
  struct Block {
    std::shared_ptr<void> memory;
    size_t bytes = 0;
    std::weak_ptr<device::Stream> stream{};      // where it was given back
    std::shared_ptr<device::Event> free_from{};  // passed when the work before that is done
  };

  bool usable(const Block& block, const device::Stream& stream) const;
  std::list<Block>::iterator best(size_t bytes, const device::Stream* stream);
  Result<Block> find_block(size_t bytes, device::Stream& stream);
  Result<Block> new_block(size_t bytes);
  Result<void*> lend(Block block);
  Status give_back(void* address, const std::shared_ptr<device::Stream>& stream);
  void drop(std::list<Block>::iterator block);

  const std::shared_ptr<device::Device> device_;
  const size_t most_bytes_;
  std::mutex mutex_;       // guards what follows
  std::list<Block> free_;  // those given back last come last
  std::map<void*, Block> lent_;
  uint32_t reuse_[3] = {1, 1, 1};
  uint64_t threshold_ = 0;
  uint64_t reserved_ = 0, reserved_peak_ = 0, used_ = 0, used_peak_ = 0;
};

Result<Handle> create_pool(int32_t device, size_t most_bytes);
Status destroy_pool(Handle pool);
Result<void*> take_from_pool(Handle pool, size_t bytes, Handle stream);
// The pool is known from the address.
Status give_back_to_pool(void* address, Handle stream);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::MemoryPool, memory_pool);
}
