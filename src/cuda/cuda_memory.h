// SPDX-License-Identifier: Apache-2.0
// Memory of one GPU, with CUDA's virtual memory API. The address range is reserved up front;
// physical memory is mapped in chunks as blocks are allocated, and stays mapped for reuse until the
// GPU runs out of memory. The host cannot read it, except where it is managed.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "cuda/gpu.h"
#include "device/device_memory.h"
#include "device/free_blocks.h"

namespace anynpu::device::cuda {

class CudaMemory final : public DeviceMemory {
 public:
  static Result<std::shared_ptr<CudaMemory>> reserve(Gpu& gpu);
  // ANYNPU_CUDA_MEMORY=managed: one managed block, which the host reads too.
  static bool is_managed();
  ~CudaMemory() override;

  uintptr_t take(size_t bytes, size_t alignment) override;
  void give_back(uintptr_t base, size_t bytes) override;
  bool contains(uintptr_t address) const override { return blocks_.contains(address); }
  size_t total() const override { return gpu_.memory_bytes(); }
  size_t used() const override { return blocks_.used(); }
  size_t peak() const override { return blocks_.peak(); }

  Status copy(const CopyRows& rows) override;
  Status fill(void* address, int value, size_t bytes) override;

 private:
  // Physical memory mapped into part of the address range.
  struct Chunk {
    size_t bytes;
    CUmemGenericAllocationHandle pages;
    size_t blocks = 0;  // allocated blocks that overlap it
  };
  CudaMemory(Gpu& gpu, uintptr_t base, size_t bytes, size_t page);
  Status put_pages(uintptr_t begin, uintptr_t end);
  Status add_chunk(uintptr_t begin, size_t bytes);
  void drop_chunk(std::map<uintptr_t, Chunk>::iterator chunk);
  bool drop_unused_chunks();
  // Calls `visit` for each chunk that overlaps the range.
  template <typename Visit>
  void for_chunks(uintptr_t begin, uintptr_t end, Visit visit);

  Gpu& gpu_;
  const size_t page_;
  FreeBlocks blocks_;
  std::mutex mutex_;
  std::map<uintptr_t, Chunk> chunks_;  // by address, never overlapping
};

}  // namespace anynpu::device::cuda
