// SPDX-License-Identifier: Apache-2.0
#include "exec/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "device/memory.h"
#include "ops/kernel.h"

namespace anynpu::exec {

namespace {

constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

int64_t machine_bytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : int64_t{1} << 40;
}

Result<Memory> Memory::allocate(size_t bytes) {
  const size_t unit = bytes >= kLargePage ? kLargePage : ops::kBufferAlignment;
  if (bytes > std::numeric_limits<size_t>::max() - unit) {
    return fail(Code::out_of_memory, "{} bytes cannot be allocated", bytes);
  }
  const size_t rounded = (bytes / unit + 1) * unit;
  Memory memory;
  memory.data_ = static_cast<std::byte*>(std::aligned_alloc(unit, rounded));
  memory.owned_ = true;
  if (!memory.data_) {
    return fail(Code::out_of_memory,
                "{} bytes for a model cannot be allocated; unload other models", rounded);
  }
  if (unit == kLargePage) madvise(memory.data_, rounded, MADV_HUGEPAGE);  // a hint: may fail
  return memory;
}

Result<Memory> Memory::allocate_on(device::Device& device, size_t bytes) {
  Memory memory;
  ANYNPU_ASSIGN(memory.block_, device::occupy_device(device, bytes),
                "for the weights and the work of a model");
  memory.data_ = static_cast<std::byte*>(memory.block_.get());
  return memory;
}

Result<Memory> Memory::borrow(void* data, size_t bytes, size_t needed, const char* what) {
  if (bytes < needed) {
    return fail(Code::invalid_address,
                "{} memory has {} bytes, the model needs {}; ask for the size before loading it",
                what, bytes, needed);
  }
  if (reinterpret_cast<uintptr_t>(data) % ops::kBufferAlignment != 0) {
    return fail(Code::unaligned_address, "{} memory starts at {}, expected a multiple of {}", what,
                static_cast<const void*>(data), ops::kBufferAlignment);
  }
  Memory memory;
  memory.data_ = static_cast<std::byte*>(data);
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      owned_(std::exchange(other.owned_, false)),
      block_(std::move(other.block_)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(owned_, other.owned_);
  std::swap(block_, other.block_);
  return *this;
}

Memory::~Memory() {
  if (owned_) std::free(data_);
}

}  // namespace anynpu::exec
