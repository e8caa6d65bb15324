// SPDX-License-Identifier: Apache-2.0
#include "cuda/transfer.h"

#include <map>

namespace anynpu::device::cuda {

namespace {

CUdeviceptr address_of(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

size_t extent(size_t pitch, size_t width, size_t height) { return pitch * (height - 1) + width; }

bool overlap(const CopyRows& rows) {
  const CUdeviceptr to = address_of(rows.to), from = address_of(rows.from);
  return to < from + extent(rows.from_pitch, rows.width, rows.height) &&
         from < to + extent(rows.to_pitch, rows.width, rows.height);
}

Status enqueue_disjoint(const Gpu& gpu, const CopyRows& rows, CUstream stream) {
  const Driver& cuda = driver();
  if (rows.height == 1) {
    return cuda_status(
        cuda.cuMemcpyAsync(address_of(rows.to), address_of(rows.from), rows.width, stream),
        "copying");
  }
  if (rows.to_pitch <= gpu.max_pitch() && rows.from_pitch <= gpu.max_pitch()) {
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = address_of(rows.from);
    copy.dstDevice = address_of(rows.to);
    copy.srcPitch = rows.from_pitch;
    copy.dstPitch = rows.to_pitch;
    copy.WidthInBytes = rows.width;
    copy.Height = rows.height;
    return cuda_status(cuda.cuMemcpy2DAsync(&copy, stream), "copying rows");
  }
  for (size_t row = 0; row < rows.height; ++row) {
    ANYNPU_TRY(cuda_status(
        cuda.cuMemcpyAsync(address_of(rows.to) + row * rows.to_pitch,
                           address_of(rows.from) + row * rows.from_pitch, rows.width, stream),
        "copying a row"));
  }
  return {};
}

// Copies through a temporary buffer, so that everything is read before anything is written.
Status enqueue_overlapping(const Gpu& gpu, const CopyRows& rows, CUstream stream) {
  const Driver& cuda = driver();
  CUdeviceptr staging = 0;
  ANYNPU_TRY(cuda_status(cuda.cuMemAllocAsync(&staging, rows.width * rows.height, stream),
                         "taking memory for a copy of overlapping ranges"));
  auto* const staged = reinterpret_cast<void*>(staging);
  Status status = enqueue_disjoint(
      gpu, {staged, rows.from, rows.width, rows.height, rows.width, rows.from_pitch}, stream);
  if (status.ok()) {
    status = enqueue_disjoint(
        gpu, {rows.to, staged, rows.width, rows.height, rows.to_pitch, rows.width}, stream);
  }
  const Status freed = cuda_status(cuda.cuMemFreeAsync(staging, stream), "freeing staged bytes");
  return status.ok() ? freed : status;
}

}  // namespace

Status enqueue_copy(const Gpu& gpu, const CopyRows& rows, CUstream stream) {
  if (rows.width == 0 || rows.height == 0) return {};
  return overlap(rows) ? enqueue_overlapping(gpu, rows, stream)
                       : enqueue_disjoint(gpu, rows, stream);
}

Status enqueue_fill(void* address, int value, size_t bytes, CUstream stream) {
  if (bytes == 0) return {};
  return cuda_status(driver().cuMemsetD8Async(address_of(address),
                                              static_cast<unsigned char>(value), bytes, stream),
                     "filling memory");
}

Result<CUstream> stream_of_thread(const Gpu& gpu) {
  // Never destroyed: threads may end after the driver has shut down.
  thread_local auto* const streams = new std::map<int, CUstream>;
  ANYNPU_TRY(gpu.enter());
  CUstream& stream = (*streams)[gpu.unit()];
  if (!stream) {
    ANYNPU_TRY(cuda_status(driver().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0),
                           "making a stream"));
  }
  return stream;
}

}  // namespace anynpu::device::cuda
