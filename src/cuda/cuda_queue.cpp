// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_queue.h"

#include "base/thread_pool.h"
#include "cuda/transfer.h"

namespace anynpu::device::cuda {

namespace {

// Our 8 priorities spread over those of the GPU, where lower numbers go first as well.
int gpu_priority(uint32_t priority) {
  int last = 0, first = 0;
  if (driver().cuCtxGetStreamPriorityRange(&last, &first) != CUDA_SUCCESS) return 0;
  return first + (last - first) * static_cast<int>(std::min(priority, 7u)) / 7;
}

// Carries the news that a queue is idle from the driver's thread, in which no CUDA call is allowed,
// to a helper of the pool.
struct IdleNews : ThreadPool::Job {
  std::function<void(Status)> done;
  Status status;
};

void CUDA_CB tell_idle(CUstream, CUresult result, void* data) {
  auto* const news = static_cast<IdleNews*>(data);
  news->status = cuda_status(result, "work in a stream of the GPU");
  ThreadPool::instance().submit(*news);
}

}  // namespace

CudaQueue::CudaQueue(Gpu& gpu, uint32_t priority) : gpu_(gpu) {
  made_ = gpu.enter();
  if (!made_.ok()) return;
  made_ = cuda_status(driver().cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING,
                                                          gpu_priority(priority)),
                      "making a stream");
}

CudaQueue::~CudaQueue() {
  if (!stream_ || !gpu_.enter().ok()) return;
  (void)drain();
  for (const CUevent event : spare_events_) driver().cuEventDestroy(event);
  driver().cuStreamDestroy(stream_);
}

Status CudaQueue::enter() const {
  if (!made_.ok()) return made_;
  return gpu_.enter();
}

Status CudaQueue::copy(const CopyRows& rows) {
  ANYNPU_TRY(enter());
  return enqueue_copy(gpu_, rows, stream_);
}

Status CudaQueue::fill(void* address, int value, size_t bytes) {
  ANYNPU_TRY(enter());
  return enqueue_fill(address, value, bytes, stream_);
}

// A failed query is not idle: when_idle() tells the failure.
bool CudaQueue::idle() const {
  return !made_.ok() || (gpu_.enter().ok() && driver().cuStreamQuery(stream_) == CUDA_SUCCESS);
}

void CudaQueue::when_idle(std::function<void(Status)> done) {
  if (const Status entered = enter(); !entered.ok()) return done(entered);
  auto* const news = new IdleNews;
  news->done = std::move(done);
  news->run = [](ThreadPool::Job& job) {
    const std::unique_ptr<IdleNews> owned(static_cast<IdleNews*>(&job));
    owned->done(std::move(owned->status));
  };
  const CUresult added = driver().cuStreamAddCallback(stream_, tell_idle, news, 0);
  if (added == CUDA_SUCCESS) return;
  const std::unique_ptr<IdleNews> owned(news);
  owned->done(cuda_status(added, "work in a stream of the GPU"));
}

// Resources go with the next call after the GPU is past them.
void CudaQueue::release_kept() {
  while (!kept_.empty() && driver().cuEventQuery(kept_.front().done) != CUDA_ERROR_NOT_READY) {
    spare_events_.push_back(kept_.front().done);
    kept_.pop_front();
  }
}

void CudaQueue::keep(std::shared_ptr<void> resource) {
  if (!enter().ok()) return;
  release_kept();
  CUevent done = nullptr;
  if (!spare_events_.empty()) {
    done = spare_events_.back();
    spare_events_.pop_back();
  } else if (driver().cuEventCreate(&done, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    (void)drain();
    return;
  }
  driver().cuEventRecord(done, stream_);
  kept_.push_back({done, std::move(resource)});
}

Status CudaQueue::drain() {
  ANYNPU_TRY(enter());
  Status status = cuda_status(driver().cuStreamSynchronize(stream_), "work in a stream of the GPU");
  release_kept();
  return status;
}

std::shared_ptr<void> CudaQueue::record(const HostWork& work) {
  const Driver& cuda = driver();
  if (!enter().ok() ||
      cuda.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) != CUDA_SUCCESS)
    return nullptr;
  const Status given = work();
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  if (cuda.cuStreamEndCapture(stream_, &graph) == CUDA_SUCCESS && given.ok())
    cuda.cuGraphInstantiate(&ready, graph, 0);
  if (graph) cuda.cuGraphDestroy(graph);
  if (!ready) return nullptr;
  return std::shared_ptr<void>(ready, [gpu = &gpu_](void* recording) {
    if (gpu->enter().ok()) driver().cuGraphExecDestroy(static_cast<CUgraphExec>(recording));
  });
}

Status CudaQueue::replay(const std::shared_ptr<void>& recording) {
  ANYNPU_TRY(enter());
  return cuda_status(
      driver().cuGraphLaunch(static_cast<CUgraphExec>(recording.get()), stream_),
      "launching a graph");
}

}  // namespace anynpu::device::cuda
