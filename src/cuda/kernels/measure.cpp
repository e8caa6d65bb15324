// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/measure.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "cuda/kernels/compiler.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/transfer.h"

namespace anynpu::device::cuda {

namespace {

constexpr int kRow = 8;      // pieces behind one another in a measurement
constexpr int kRepeats = 3;  // of which the fastest counts; many more of short pieces:
constexpr int kShortRepeats = 12;
constexpr double kShort = 50;  // microseconds

struct Recorded {
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  CUevent begin = nullptr, end = nullptr;
  ~Recorded() {
    if (ready) driver().cuGraphExecDestroy(ready);
    if (graph) driver().cuGraphDestroy(graph);
    if (begin) driver().cuEventDestroy(begin);
    if (end) driver().cuEventDestroy(end);
  }
};

}  // namespace

Result<std::unique_ptr<Measure>> Measure::on(const Gpu& gpu) {
  ANYNPU_ASSIGN(const CUstream stream, stream_of_thread(gpu));
  return std::unique_ptr<Measure>(new Measure(gpu, stream));
}

Measure::~Measure() {
  for (const CUdeviceptr block : blocks_) driver().cuMemFreeAsync(block, stream_);
}

Result<void*> Measure::bytes(size_t count) {
  CUdeviceptr block = 0;
  ANYNPU_TRY(cuda_status(driver().cuMemAllocAsync(&block, std::max<size_t>(count, 16), stream_),
                         "taking memory to measure with"));
  blocks_.push_back(block);
  return reinterpret_cast<void*>(block);
}

Result<void*> Measure::numbers(size_t count, DType type) {
  ANYNPU_ASSIGN(void* block, bytes(count * size_of(type)));
  ANYNPU_ASSIGN(
      const CUfunction fill,
      compile_kernel(gpu_,
                     format("extern \"C\" __global__ void kernel({}* y, u64 n) {{\n"
                            "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n;"
                            " i += gridDim.x * (u64)blockDim.x) {{\n"
                            "    u32 h = (u32)i * 2654435761u; h ^= h >> 15; h *= 2246822519u; "
                            "h ^= h >> 13;\n"
                            "    store(y[i], (float)(int)h * 4.6566e-10f);\n  }}\n}}\n",
                            cuda_name(type))));
  void* arguments[] = {&block, &count};
  ANYNPU_TRY(cuda_status(
      driver().cuLaunchKernel(fill, 1024, 1, 1, 256, 1, 1, 0, stream_, arguments, nullptr),
      "filling memory to measure with"));
  return block;
}

double Measure::time(const std::function<Status(CUstream)>& work) {
  const auto taken = time_row(work);
  return taken.ok() ? *taken : std::numeric_limits<double>::infinity();
}

Result<double> Measure::time_row(const std::function<Status(CUstream)>& work) {
  const Driver& cuda = driver();
  ANYNPU_TRY(work(stream_));
  ANYNPU_TRY(cuda_status(cuda.cuStreamSynchronize(stream_), "a piece of work"));
  Recorded row;
  ANYNPU_TRY(cuda_status(cuda.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                         "recording"));
  Status given;
  for (int i = 0; i < kRow && given.ok(); ++i) given = work(stream_);
  const CUresult ended = cuda.cuStreamEndCapture(stream_, &row.graph);
  ANYNPU_TRY(given);
  ANYNPU_TRY(cuda_status(ended, "recording"));
  ANYNPU_TRY(cuda_status(cuda.cuGraphInstantiate(&row.ready, row.graph, 0), "recording"));
  ANYNPU_TRY(cuda_status(cuda.cuEventCreate(&row.begin, CU_EVENT_DEFAULT), "an event"));
  ANYNPU_TRY(cuda_status(cuda.cuEventCreate(&row.end, CU_EVENT_DEFAULT), "an event"));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < (best < kShort ? kShortRepeats : kRepeats); ++i) {
    ANYNPU_TRY(cuda_status(cuda.cuEventRecord(row.begin, stream_), "an event"));
    ANYNPU_TRY(cuda_status(cuda.cuGraphLaunch(row.ready, stream_), "replaying"));
    ANYNPU_TRY(cuda_status(cuda.cuEventRecord(row.end, stream_), "an event"));
    ANYNPU_TRY(cuda_status(cuda.cuEventSynchronize(row.end), "a piece of work"));
    float milliseconds = 0;
    ANYNPU_TRY(cuda_status(cuda.cuEventElapsedTime(&milliseconds, row.begin, row.end), "a time"));
    best = std::min(best, 1e3 * static_cast<double>(milliseconds) / kRow);
  }
  return best;
}

}  // namespace anynpu::device::cuda
