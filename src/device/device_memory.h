// SPDX-License-Identifier: Apache-2.0
// The memory of a back end. Its addresses are those that programs get; they are unique in the
// process, so that the range map can find the owner of an address. Whether the host can dereference
// them depends on the back end: code outside the back end and its kernels never does, but uses
// copy(), fill() and host_view.h. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace anynpu::device {

enum class Access { read, write };  // write: bytes not written keep their value

// `height` rows of `width` bytes, `pitch` bytes from one to the next. One row needs no pitch.
struct CopyRows {
  void* to = nullptr;
  const void* from = nullptr;
  size_t width = 0;
  size_t height = 1;
  size_t to_pitch = 0;
  size_t from_pitch = 0;
};

// A range for host code; `address` is replaced by one that the host can use.
struct HostRange {
  void* address = nullptr;
  size_t bytes = 0;
  Access access = Access::read;
};

// A reference to a callable that is called before the receiving function returns.
class HostWork {
 public:
  template <typename Work>
  explicit HostWork(const Work& work)
      : state_(&work),
        call_([](const void* state) -> Status { return (*static_cast<const Work*>(state))(); }) {}
  Status operator()() const { return call_(state_); }

 private:
  const void* state_;
  Status (*call_)(const void* state);
};

class DeviceMemory {
 public:
  enum class Host : bool { cannot_read, reads };
  explicit DeviceMemory(Host host) : host_(host) {}
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  bool host_readable() const { return host_ == Host::reads; }

  // Blocks (required). take() returns at least `bytes`, aligned to a power of two; 0 when memory is
  // full.
  virtual uintptr_t take(size_t bytes, size_t alignment) = 0;
  virtual void give_back(uintptr_t base, size_t bytes) = 0;
  virtual bool contains(uintptr_t address) const = 0;  // allocated or not
  virtual size_t total() const = 0;
  virtual size_t used() const = 0;
  virtual size_t peak() const = 0;

  // Bytes (required). Synchronous. One side of a copy is in this memory; the other is there too, or
  // in memory that the host can read. Ranges may overlap.
  virtual Status copy(const CopyRows& rows) = 0;
  virtual Status fill(void* address, int value, size_t bytes) = 0;

  // Host work on this memory (optional): runs `work` with each address in `ranges` replaced by one
  // that the host can use. By default the ranges are copied to the host before and back
  // afterwards.
  virtual Status with_host_view(std::span<HostRange* const> ranges, const HostWork& work);

  // A hint (optional): all of the block will be used.
  virtual void prefer_huge_pages(uintptr_t base, size_t bytes) {}

  // Registers a memory; the creator calls it before the first block is taken.
  static void make_known(const std::shared_ptr<DeviceMemory>& memory);
  // The registered memory that contains `address`, allocated or not; null when none does.
  static std::shared_ptr<DeviceMemory> find(uintptr_t address);

 private:
  const Host host_;
};

// False once the process has memory that the host cannot read.
extern std::atomic<bool> host_reads_all;
inline bool host_reads_all_memory() { return host_reads_all.load(std::memory_order_relaxed); }

// copy() and fill() for host memory.
void copy_on_host(const CopyRows& rows);

}  // namespace anynpu::device
