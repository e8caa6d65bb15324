// SPDX-License-Identifier: Apache-2.0
// A cluster: eight NPC cores with one 4 GiB address space (memory_map.h). It owns the memory,
// allocates device addresses, and runs kernels of loaded modules (module.h). Callers queue all of
// this as tasks of a device::Stream; a launch runs on the calling thread and uses helpers of the
// pool if it takes long; there are no threads or queues here. All calls are thread-safe; launches
// of one cluster run one after another.
//
// Codes of failures, and what they mean to a Stream Computing program:
//   invalid_argument  stcErrorInvalidValue             invalid_device   stcErrorInvalidDevice
//   out_of_memory     stcErrorDeviceMemoryAllocation   invalid_address stcErrorInvalidDevicePointer
//   file_not_found    stcErrorNoImage (empty image)    file_invalid     stcErrorInvalidImage
//   unsupported_op    stcErrorLinkFailure              limit_exceeded   ...InvalidImageDataSection
//   not_found         stcErrorInvalidKernel            invalid_config   stcErrorInvalidCoreNum
//   invalid_handle    stcErrorInvalidModule            task_failed      ...DeviceImageException
//   io_error          stcErrorSyscallFailure (the host could not reserve memory)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "npc/counters.h"
#include "npc/memory_map.h"

namespace anynpu::npc {

class Cluster;
class Memory;
class Module;

// An allocation of device memory. Queued work keeps a reference: after release() the addresses are
// reused only when the last reference is gone.
class Block {
 public:
  Block(std::shared_ptr<Memory> memory, uint32_t base, uint32_t bytes)
      : memory_(std::move(memory)), base_(base), bytes_(bytes) {}
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  uint32_t base() const { return base_; }
  uint32_t bytes() const { return bytes_; }  // as requested
  bool covers(uint32_t address, size_t count) const {
    return address >= base_ && address - base_ <= bytes_ && count <= bytes_ - (address - base_);
  }
  // The host address of a device address inside this block, for memcpy.
  std::byte* host(uint32_t address) const;

 private:
  std::shared_ptr<Memory> memory_;
  uint32_t base_;
  uint32_t bytes_;
};

// The type of a parameter before it was converted to a word. plain: unknown.
enum class Given : uint8_t { plain, integer, single, half, pointer };

struct LaunchRequest {
  std::string kernel;
  std::vector<uint32_t> args;  // one word per parameter; floats by their bits, half in the low 16
  std::vector<Given> given;    // beside args, or empty: plain
  int core_num = kCores;       // 1-8
  // CoreNum as the kernel reads it, up to kMostBlocks. More than core_num: each core runs one block
  // after another, each with fresh local data, and sync() traps. 0: core_num.
  int blocks = 0;
  uint32_t flags = 0;       // KernelFlag 0-3; caches are coherent here, so they change nothing
  uint64_t budget = 0;      // instructions per core before a trap; 0: ANYNPU_NPC_BUDGET or 2^40
  uint64_t timeout_ns = 0;  // cores are stopped after this time: kernel_timeout; 0: never
  // Receives the text of a device printf, one call at a time. Null: standard output.
  std::function<void(int core, std::string_view text)> print;
};

class Cluster {
 public:
  // The cluster with this id (0-3). Made on first use, lives as long as the process.
  static Result<Cluster*> get(int id);

  int id() const { return id_; }

  // Memory. Addresses are multiples of 4096; bytes must be above 0.
  Result<uint32_t> allocate(size_t bytes);       // global memory that cores load and store
  Result<uint32_t> allocate_high(size_t bytes);  // for copies only
  // `address` must be the start of an allocation of this cluster.
  Status release(uint32_t address);
  // The allocation that contains [address, address + count); invalid_address when none does.
  // Interior addresses are allowed. Count 0 checks only the address.
  Result<std::shared_ptr<Block>> find(uint32_t address, size_t count = 0) const;
  // find() and memcpy.
  Status write(uint32_t address, const void* from, size_t count);
  Status read(uint32_t address, void* to, size_t count) const;
  size_t free_bytes() const;  // global memory

  // The checks before a launch is queued: core_num, flags, kernel name, number of arguments (at
  // most kMaxArgs), their types (npc/parameters.h), module of this cluster. Runs nothing on the
  // device.
  Status check(const Module& module, const LaunchRequest& request) const;

  // Runs the kernel to its end. A trap (bad address, illegal instruction, abort, failed assert,
  // exit with a code, stack overflow, budget used up) is task_failed; the message names kernel,
  // core and reason, and stats->trap_report holds the call stacks to print at the next synchronize.
  // `stats` may be null; it is filled in on failure too.
  Status launch(const Module& module, const LaunchRequest& request, LaunchStats* stats);

  const std::shared_ptr<Memory>& memory() const { return memory_; }

  static constexpr size_t kMaxArgs = 256;

 private:
  explicit Cluster(int id, std::shared_ptr<Memory> memory);

  int id_;
  std::shared_ptr<Memory> memory_;
  struct Machine;  // cores and their stacks
  Machine* machine_;
};

}  // namespace anynpu::npc
