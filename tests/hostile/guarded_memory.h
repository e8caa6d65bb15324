// SPDX-License-Identifier: Apache-2.0
// Memory for a test whose end is watched: the next page cannot be touched, and the bytes between
// the end and that page are looked at afterwards. Under the address sanitizer it is an ordinary
// block, which that watches to the byte.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace anynpu::hostile {

class GuardedMemory {
 public:
  explicit GuardedMemory(size_t bytes) : bytes_(bytes) {
    constexpr size_t kAlignment = 64;  // of the buffers of AscendCL
#ifdef __SANITIZE_ADDRESS__
    void* at = nullptr;
    if (posix_memalign(&at, kAlignment, bytes > 0 ? bytes : 1) == 0)
      data_ = static_cast<std::byte*>(at);
#else
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t aligned = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const size_t usable = (aligned + page - 1) / page * page;
    mapped_ = usable + page;
    void* at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(at);
    mprotect(base_ + usable, page, PROT_NONE);
    data_ = base_ + usable - aligned;
    std::memset(data_ + bytes_, kMark, aligned - bytes_);
    slack_ = aligned - bytes_;
#endif
  }
  ~GuardedMemory() {
#ifdef __SANITIZE_ADDRESS__
    std::free(data_);
#else
    if (base_) munmap(base_, mapped_);
#endif
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }  // null: there is no memory
  size_t bytes() const { return bytes_; }
  bool end_is_intact() const {
    for (size_t i = 0; i < slack_; ++i) {
      if (data_[bytes_ + i] != std::byte{kMark}) return false;
    }
    return true;
  }

 private:
  static constexpr uint8_t kMark = 0xc5;
  size_t bytes_;
  std::byte* data_ = nullptr;
  std::byte* base_ = nullptr;
  size_t mapped_ = 0;
  size_t slack_ = 0;
};

}  // namespace anynpu::hostile
