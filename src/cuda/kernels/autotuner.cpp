// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/autotuner.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "cuda/kernels/compiler.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/transfer.h"

namespace anynpu::device::cuda {

namespace {

constexpr int kLaunches = 8;  // executions per CUDA graph
constexpr int kRepeats = 3;   // launches of the graph, of which the fastest counts
constexpr int kShortRepeats = 12;
constexpr double kShort = 50;  // microseconds; below this, kShortRepeats

struct TimedGraph {
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  CUevent begin = nullptr, end = nullptr;
  ~TimedGraph() {
    if (ready) driver().cuGraphExecDestroy(ready);
    if (graph) driver().cuGraphDestroy(graph);
    if (begin) driver().cuEventDestroy(begin);
    if (end) driver().cuEventDestroy(end);
  }
};

}  // namespace

Result<std::unique_ptr<Autotuner>> Autotuner::on(const Gpu& gpu) {
  ANYNPU_ASSIGN(const CUstream stream, stream_of_thread(gpu));
  return std::unique_ptr<Autotuner>(new Autotuner(gpu, stream));
}

Autotuner::~Autotuner() {
  for (const CUdeviceptr block : blocks_) driver().cuMemFreeAsync(block, stream_);
}

Result<void*> Autotuner::allocate(size_t count) {
  CUdeviceptr block = 0;
  ANYNPU_TRY(cuda_status(driver().cuMemAllocAsync(&block, std::max<size_t>(count, 16), stream_),
                         "taking memory to measure with"));
  blocks_.push_back(block);
  return reinterpret_cast<void*>(block);
}

Result<void*> Autotuner::allocate_random(size_t count, DType type) {
  ANYNPU_ASSIGN(void* block, allocate(count * size_of(type)));
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

double Autotuner::time(const std::function<Status(CUstream)>& work) {
  const auto taken = time_graph(work);
  return taken.ok() ? *taken : std::numeric_limits<double>::infinity();
}

Result<double> Autotuner::time_graph(const std::function<Status(CUstream)>& work) {
  const Driver& cuda = driver();
  ANYNPU_TRY(work(stream_));
  ANYNPU_TRY(cuda_status(cuda.cuStreamSynchronize(stream_), "a piece of work"));
  TimedGraph timed;
  ANYNPU_TRY(cuda_status(cuda.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                         "recording"));
  Status captured;
  for (int i = 0; i < kLaunches && captured.ok(); ++i) captured = work(stream_);
  const CUresult ended = cuda.cuStreamEndCapture(stream_, &timed.graph);
  ANYNPU_TRY(captured);
  ANYNPU_TRY(cuda_status(ended, "recording"));
  ANYNPU_TRY(cuda_status(cuda.cuGraphInstantiate(&timed.ready, timed.graph, 0), "recording"));
  ANYNPU_TRY(cuda_status(cuda.cuEventCreate(&timed.begin, CU_EVENT_DEFAULT), "an event"));
  ANYNPU_TRY(cuda_status(cuda.cuEventCreate(&timed.end, CU_EVENT_DEFAULT), "an event"));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < (best < kShort ? kShortRepeats : kRepeats); ++i) {
    ANYNPU_TRY(cuda_status(cuda.cuEventRecord(timed.begin, stream_), "an event"));
    ANYNPU_TRY(cuda_status(cuda.cuGraphLaunch(timed.ready, stream_), "replaying"));
    ANYNPU_TRY(cuda_status(cuda.cuEventRecord(timed.end, stream_), "an event"));
    ANYNPU_TRY(cuda_status(cuda.cuEventSynchronize(timed.end), "a piece of work"));
    float milliseconds = 0;
    ANYNPU_TRY(
        cuda_status(cuda.cuEventElapsedTime(&milliseconds, timed.begin, timed.end), "a time"));
    best = std::min(best, 1e3 * static_cast<double>(milliseconds) / kLaunches);
  }
  return best;
}

}  // namespace anynpu::device::cuda
