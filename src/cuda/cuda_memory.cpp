// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_memory.h"

#include "base/align.h"
#include "base/env.h"
#include "base/fault_guard.h"
#include "base/log.h"
#include "cuda/transfer.h"

namespace anynpu::device::cuda {

namespace {

constexpr const char* kHostAccess =
    "anynpu: the program accesses the memory of a GPU on the host, which only the GPU can; copy it "
    "with aclrtMemcpy, or run the program with ANYNPU_CUDA_MEMORY=managed\n";
constexpr size_t kUnit = 512;  // alignment of blocks; that of cuMemAlloc is 256

CUmemAllocationProp pages_of(const Gpu& gpu) {
  CUmemAllocationProp pages = {};
  pages.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  pages.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu.device()};
  return pages;
}

}  // namespace

Result<std::shared_ptr<CudaMemory>> CudaMemory::reserve(Gpu& gpu) {
  ANYNPU_TRY(gpu.enter());
  const CUmemAllocationProp pages = pages_of(gpu);
  size_t page = 0;
  ANYNPU_TRY(cuda_status(
      driver().cuMemGetAllocationGranularity(&page, &pages, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
      "asking for the size of a page"));
  CUdeviceptr base = 0;
  size_t bytes = round_up(gpu.memory_bytes(), page);
  if (is_managed()) {
    // More than is free could only be had by moving pages to the host and back.
    size_t free = 0, total = 0;
    ANYNPU_TRY(cuda_status(driver().cuMemGetInfo(&free, &total), "asking for free memory"));
    bytes = round_down(free / 10 * 9, page);
    ANYNPU_TRY(cuda_status(driver().cuMemAllocManaged(&base, bytes, CU_MEM_ATTACH_GLOBAL),
                           "taking managed memory of a GPU"));
  } else {
    ANYNPU_TRY(cuda_status(driver().cuMemAddressReserve(&base, bytes, page, 0, 0),
                           "reserving addresses for the memory of a GPU"));
    explain_faults(base, bytes, kHostAccess);
  }
  std::shared_ptr<CudaMemory> memory(new CudaMemory(gpu, base, bytes, page));
  make_known(memory);
  return memory;
}

bool CudaMemory::is_managed() { return env::text(env::Name::cuda_memory) == "managed"; }

CudaMemory::CudaMemory(Gpu& gpu, uintptr_t base, size_t bytes, size_t page)
    : DeviceMemory(is_managed() ? Host::reads : Host::cannot_read),
      gpu_(gpu),
      page_(page),
      blocks_(base, bytes, kUnit) {}

CudaMemory::~CudaMemory() {
  if (!gpu_.enter().ok()) return;
  if (host_readable()) {
    driver().cuMemFree(blocks_.base());
    return;
  }
  while (!chunks_.empty()) drop_chunk(chunks_.begin());
  driver().cuMemAddressFree(blocks_.base(), blocks_.size());
}

template <typename Visit>
void CudaMemory::for_chunks(uintptr_t begin, uintptr_t end, Visit visit) {
  auto chunk = chunks_.upper_bound(begin);
  if (chunk != chunks_.begin()) --chunk;
  for (; chunk != chunks_.end() && chunk->first < end; ++chunk) {
    if (chunk->first + chunk->second.bytes > begin) visit(chunk->first, chunk->second);
  }
}

uintptr_t CudaMemory::take(size_t bytes, size_t alignment) {
  if (!gpu_.enter().ok()) return 0;
  const std::lock_guard lock(mutex_);
  const uintptr_t base = blocks_.take(bytes, alignment);
  if (!base) return 0;
  const uintptr_t end = base + bytes;
  if (host_readable()) return base;
  Status put = put_pages(base, end);
  if (put.code() == Code::out_of_memory && drop_unused_chunks()) put = put_pages(base, end);
  if (!put.ok()) {
    size_t free = 0, total = 0;
    driver().cuMemGetInfo(&free, &total);
    ANYNPU_LOG(
        error,
        "GPU {}: {} bytes cannot be taken: {}; {} of {} bytes are free, this process has {}; "
        "free memory, unload models or end other programs on this GPU (nvidia-smi)",
        gpu_.unit(), bytes, put.to_string(), free, total, blocks_.used());
    blocks_.give_back(base, bytes);
    return 0;
  }
  for_chunks(base, end, [](uintptr_t, Chunk& chunk) { ++chunk.blocks; });
  return base;
}

void CudaMemory::give_back(uintptr_t base, size_t bytes) {
  const std::lock_guard lock(mutex_);
  for_chunks(base, base + bytes, [](uintptr_t, Chunk& chunk) { --chunk.blocks; });
  blocks_.give_back(base, bytes);
}

// Maps memory wherever the range has none yet.
Status CudaMemory::put_pages(uintptr_t begin, uintptr_t end) {
  uintptr_t at = round_down(begin, page_);
  end = round_up(end, page_);
  while (at < end) {
    uintptr_t covered = at, gap_end = end;
    for_chunks(at, end, [&](uintptr_t start, const Chunk& chunk) {
      if (start <= covered) {
        covered = start + chunk.bytes;
      } else {
        gap_end = std::min(gap_end, start);
      }
    });
    at = covered;
    if (at >= end) break;
    ANYNPU_TRY(add_chunk(at, gap_end - at));
    at = gap_end;
  }
  return {};
}

Status CudaMemory::add_chunk(uintptr_t begin, size_t bytes) {
  const Driver& cuda = driver();
  const CUmemAllocationProp pages = pages_of(gpu_);
  Chunk chunk{bytes, 0};
  ANYNPU_TRY(cuda_status(cuda.cuMemCreate(&chunk.pages, bytes, &pages, 0), "taking memory"));
  if (const Status mapped =
          cuda_status(cuda.cuMemMap(begin, bytes, 0, chunk.pages, 0), "mapping memory");
      !mapped.ok()) {
    cuda.cuMemRelease(chunk.pages);
    return mapped;
  }
  const auto added = chunks_.emplace(begin, chunk).first;
  // Peer access: every GPU in use that can reach this one may read and write the chunk.
  for (const Gpu* peer : Gpu::used()) {
    int reaches = peer == &gpu_;
    if (!reaches) cuda.cuDeviceCanAccessPeer(&reaches, peer->device(), gpu_.device());
    if (!reaches) continue;
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = peer->device()},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (Status allowed =
            cuda_status(cuda.cuMemSetAccess(begin, bytes, &access, 1), "making memory accessible");
        !allowed.ok()) {
      drop_chunk(added);
      return allowed;
    }
  }
  return {};
}

void CudaMemory::drop_chunk(std::map<uintptr_t, Chunk>::iterator chunk) {
  driver().cuMemUnmap(chunk->first, chunk->second.bytes);
  driver().cuMemRelease(chunk->second.pages);
  chunks_.erase(chunk);
}

bool CudaMemory::drop_unused_chunks() {
  const size_t before = chunks_.size();
  for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
    const auto next = std::next(chunk);
    if (chunk->second.blocks == 0) drop_chunk(chunk);
    chunk = next;
  }
  return chunks_.size() < before;
}

Status CudaMemory::copy(const CopyRows& rows) {
  ANYNPU_ASSIGN(const CUstream stream, stream_of_thread(gpu_));
  ANYNPU_TRY(enqueue_copy(gpu_, rows, stream));
  return cuda_status(driver().cuStreamSynchronize(stream), "waiting for a copy");
}

Status CudaMemory::fill(void* address, int value, size_t bytes) {
  ANYNPU_ASSIGN(const CUstream stream, stream_of_thread(gpu_));
  ANYNPU_TRY(enqueue_fill(address, value, bytes, stream));
  return cuda_status(driver().cuStreamSynchronize(stream), "waiting for a fill");
}

}  // namespace anynpu::device::cuda
