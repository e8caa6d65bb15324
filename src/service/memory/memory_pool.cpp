// SPDX-License-Identifier: Apache-2.0
#include "service/memory/memory_pool.h"

#include <algorithm>
#include <vector>

#include "base/align.h"
#include "device/device_memory.h"
#include "device/memory.h"
#include "device/range_map.h"
#include "device/runtime.h"
#include "device/synchronize_observer.h"
#include "service/finalize.h"
#include "service/new_handle.h"

namespace anynpu::service {

namespace {

using device::Allocation;
using device::Event;
using device::MemoryKind;
using device::RangeMap;
using device::Runtime;
using device::Stream;

constexpr size_t kPoolUnit = 512;

// Which pool lent an address, and all pools that are there.
struct Lenders {
  std::mutex mutex;
  std::map<void*, std::shared_ptr<MemoryPool>> by_address;
  std::vector<std::weak_ptr<MemoryPool>> pools;
};

Lenders& lenders() {
  static auto* all = [] {
    on_finalize([] {
      std::map<void*, std::shared_ptr<MemoryPool>> ended;  // end without the lock
      const std::lock_guard lock(lenders().mutex);
      ended.swap(lenders().by_address);
    });
    return new Lenders;
  }();
  return *all;
}

void tell_pools(const Stream&) {
  std::vector<std::shared_ptr<MemoryPool>> pools;
  {
    const std::lock_guard lock(lenders().mutex);
    std::erase_if(lenders().pools, [](const auto& pool) { return pool.expired(); });
    for (const auto& pool : lenders().pools) pools.push_back(pool.lock());
  }
  for (const auto& pool : pools) {
    if (pool) pool->synchronized();
  }
}

}  // namespace

MemoryPool::MemoryPool(std::shared_ptr<device::Device> device, size_t most_bytes)
    : device_(std::move(device)), most_bytes_(most_bytes ? most_bytes : device_->memory_total()) {}

// Whether a freed block can be used by the next tasks of `stream` without waiting.
bool MemoryPool::usable(const Block& block, const Stream& stream) const {
  if (block.stream.lock().get() == &stream) return true;
  const bool done = block.free_from->state() != device::EventState::recorded;
  return done && (reuse_[0] || reuse_[1] || reuse_[2]);
}

// The smallest free block that is large enough; for `stream`, of those it can use as they are.
std::list<MemoryPool::Block>::iterator MemoryPool::best(size_t bytes, const Stream* stream) {
  auto found = free_.end();
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    if (block->bytes < bytes || (stream && !usable(*block, *stream))) continue;
    if (found == free_.end() || block->bytes < found->bytes) found = block;
  }
  return found;
}

void MemoryPool::drop(std::list<Block>::iterator block) {
  reserved_ -= block->bytes;
  free_.erase(block);
}

Result<MemoryPool::Block> MemoryPool::new_block(size_t bytes) {
  // What is free and too small makes room.
  while (reserved_ + bytes > most_bytes_ && !free_.empty()) drop(free_.begin());
  if (reserved_ + bytes > most_bytes_) {
    return fail(Code::out_of_memory,
                "{} bytes were asked for; the pool has lent {} of its {} bytes", bytes, reserved_,
                most_bytes_);
  }
  Block block{nullptr, bytes};
  ANYNPU_ASSIGN(block.memory, device::occupy_device(*device_, bytes));
  reserved_ += bytes;
  reserved_peak_ = std::max(reserved_peak_, reserved_);
  return block;
}

Result<MemoryPool::Block> MemoryPool::find_block(size_t bytes, Stream& stream) {
  auto found = best(bytes, &stream);
  if (found == free_.end()) {
    auto made = new_block(bytes);
    if (made.ok() || !reuse_[2]) return made;
    found = best(bytes, nullptr);
    if (found == free_.end()) return made;
    ANYNPU_TRY(found->free_from->wait_in(stream));
  }
  Block block = std::move(*found);
  free_.erase(found);
  return block;
}

Result<void*> MemoryPool::lend(Block block) {
  ANYNPU_ASSIGN(auto memory, device_->memory());
  void* const address = block.memory.get();
  auto allocation = std::make_shared<Allocation>();
  allocation->base = reinterpret_cast<uintptr_t>(address);
  allocation->bytes = block.bytes;
  allocation->kind = MemoryKind::pooled;
  allocation->device_id = device_->id();
  allocation->memory = std::move(memory);
  allocation->backing = block.memory;
  if (!RangeMap::instance().insert(std::move(allocation))) {
    return fail(Code::internal, "a block of a pool at {} overlaps a known range", address);
  }
  used_ += block.bytes;
  used_peak_ = std::max(used_peak_, used_);
  lent_.emplace(address, std::move(block));
  return address;
}

Result<void*> MemoryPool::take(size_t bytes, const std::shared_ptr<Stream>& stream) {
  if (bytes == 0) return fail(Code::invalid_argument, "the size is 0; ask for at least one byte");
  if (bytes > most_bytes_) {
    return fail(Code::out_of_memory, "{} bytes were asked for; the pool has {} in all", bytes,
                most_bytes_);
  }
  if (stream->device() != device_) {
    return fail(Code::wrong_context, "the pool is of device {}, the stream of another device",
                device_->id());
  }
  void* address = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ANYNPU_ASSIGN(Block block, find_block(round_up(bytes, kPoolUnit), *stream));
    ANYNPU_ASSIGN(address, lend(std::move(block)));
  }
  const std::lock_guard lock(lenders().mutex);
  lenders().by_address[address] = shared_from_this();
  return address;
}

Status MemoryPool::give_back(void* address, const std::shared_ptr<Stream>& stream) {
  auto event = std::make_shared<Event>(stream->context(), 0);
  ANYNPU_TRY(event->record(*stream));
  // Tasks that use the block keep it; new calls find nothing there.
  const auto ended =
      RangeMap::instance().remove(reinterpret_cast<uintptr_t>(address), MemoryKind::pooled);
  const std::lock_guard lock(mutex_);
  const auto found = lent_.find(address);
  if (found == lent_.end()) return {};  // the device was reset meanwhile
  Block block = std::move(found->second);
  lent_.erase(found);
  used_ -= block.bytes;
  block.stream = stream;
  block.free_from = std::move(event);
  free_.push_back(std::move(block));
  return {};
}

void MemoryPool::trim(size_t keep) {
  const std::lock_guard lock(mutex_);
  while (reserved_ > keep && !free_.empty()) drop(free_.begin());
}

void MemoryPool::synchronized() {
  uint64_t keep;
  {
    const std::lock_guard lock(mutex_);
    keep = threshold_;
  }
  trim(keep);
}

Result<size_t> MemoryPool::attribute_bytes(int attribute) {
  if (attribute >= 1 && attribute <= 3) return sizeof(uint32_t);
  if (attribute >= 4 && attribute <= 8) return sizeof(uint64_t);
  return fail(Code::invalid_argument, "attr is {}; expected 1 to 8", attribute);
}

Status MemoryPool::set_attribute(PoolAttribute attribute, uint64_t value) {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case PoolAttribute::release_threshold:
      threshold_ = value;
      return {};
    case PoolAttribute::reserved:
    case PoolAttribute::used:
      return fail(Code::invalid_argument, "attribute {} is only read", static_cast<int>(attribute));
    case PoolAttribute::reserved_peak:
    case PoolAttribute::used_peak:
      if (value != 0) {
        return fail(Code::invalid_argument, "the value is {}; a peak is set to 0 alone", value);
      }
      (attribute == PoolAttribute::used_peak ? used_peak_ : reserved_peak_) = 0;
      return {};
    default:
      if (value > 1) return fail(Code::invalid_argument, "the value is {}; expected 0 or 1", value);
      reuse_[static_cast<int>(attribute) - 1] = static_cast<uint32_t>(value);
      return {};
  }
}

uint64_t MemoryPool::attribute(PoolAttribute attribute) {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case PoolAttribute::release_threshold:
      return threshold_;
    case PoolAttribute::reserved:
      return reserved_;
    case PoolAttribute::reserved_peak:
      return reserved_peak_;
    case PoolAttribute::used:
      return used_;
    case PoolAttribute::used_peak:
      return used_peak_;
    default:
      return reuse_[static_cast<int>(attribute) - 1];
  }
}

Result<Handle> create_pool(int32_t id, size_t most_bytes) {
  ANYNPU_ASSIGN(auto device, Runtime::instance().device(id));
  if (most_bytes > device->memory_total()) {
    return fail(Code::out_of_memory, "maxSize is {}; device {} has {} bytes", most_bytes, id,
                device->memory_total());
  }
  auto pool = std::make_shared<MemoryPool>(std::move(device), most_bytes);
  const std::lock_guard lock(lenders().mutex);
  lenders().pools.push_back(pool);
  device::synchronize_observer.store(tell_pools, std::memory_order_release);
  return new_handle(std::move(pool));
}

Status destroy_pool(Handle handle) {
  const auto pool = HandleTable::instance().remove<MemoryPool>(handle);
  if (!pool) return HandleTable::instance().explain(handle, HandleTag::memory_pool);
  pool->trim(0);
  (void)pool->set_attribute(PoolAttribute::release_threshold, 0);
  return {};
}

Result<void*> take_from_pool(Handle handle, size_t bytes, Handle stream_handle) {
  ANYNPU_ASSIGN(auto pool, resolve<MemoryPool>(handle));
  ANYNPU_ASSIGN(const auto stream, Runtime::instance().stream(stream_handle));
  return pool->take(bytes, stream);
}

Status give_back_to_pool(void* address, Handle stream_handle) {
  ANYNPU_ASSIGN(const auto stream, Runtime::instance().stream(stream_handle));
  std::shared_ptr<MemoryPool> pool;
  {
    const std::lock_guard lock(lenders().mutex);
    const auto found = lenders().by_address.find(address);
    if (found == lenders().by_address.end()) {
      return fail(Code::invalid_address,
                  "{} was not lent by a pool, or was given back already; pass what "
                  "aclrtMemPoolMallocAsync gave, once",
                  address);
    }
    pool = std::move(found->second);
    lenders().by_address.erase(found);
  }
  return pool->give_back(address, stream);
}

}  // namespace anynpu::service
