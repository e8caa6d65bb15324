// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_queue.h"

#include <algorithm>

#include "base/log.h"
#include "base/thread_pool.h"
#include "cuda/profiler.h"
#include "cuda/queue_mark.h"
#include "cuda/transfer.h"

namespace anynpu::device::cuda {

namespace {

// Maps our 8 priorities to the GPU's range. In both, a lower number means a higher priority.
int gpu_priority(uint32_t priority) {
  int last = 0, first = 0;
  if (driver().cuCtxGetStreamPriorityRange(&last, &first) != CUDA_SUCCESS) return 0;
  return first + (last - first) * static_cast<int>(std::min(priority, 7u)) / 7;
}

constexpr size_t kBranches = 4;

// Moves the callback of when_idle() to the thread pool: the driver's callback thread must not make
// CUDA calls.
struct IdleCallback : ThreadPool::Job {
  std::function<void(Status)> done;
  Status status;
  Faults* faults = nullptr;
};

void CUDA_CB on_idle(CUstream, CUresult result, void* data) {
  auto* const callback = static_cast<IdleCallback*>(data);
  callback->status = cuda_status(result, "work in a stream of the GPU");
  if (callback->status.ok() && callback->faults) callback->status = callback->faults->take();
  ThreadPool::instance().submit(*callback);
}

}  // namespace

// A capture of the calling thread.
struct CudaQueue::Capture {
  const Gpu* gpu;
  CUstream stream;                               // of the branch that the current part is in
  std::vector<std::shared_ptr<void>> resources;  // live as long as the recording

  // The one that is under way in this thread, on `gpu`; null if there is none.
  static Capture* of(const Gpu& gpu) { return current && current->gpu == &gpu ? current : nullptr; }
  inline static thread_local Capture* current = nullptr;
};

CudaQueue::CudaQueue(Gpu& gpu, uint32_t priority) : gpu_(gpu) {
  create_status_ = gpu.enter();
  if (!create_status_.ok()) return;
  create_status_ = cuda_status(
      driver().cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, gpu_priority(priority)),
      "making a stream");
  if (const auto faults = Faults::of(gpu); faults.ok()) faults_ = *faults;
}

CudaQueue::~CudaQueue() {
  if (!stream_ || !gpu_.enter().ok()) return;
  (void)drain();
  for (const CUevent event : spare_events_) driver().cuEventDestroy(event);
  for (size_t b = 1; b < branches_.size(); ++b) driver().cuStreamDestroy(branches_[b]);
  driver().cuStreamDestroy(stream_);
}

Status CudaQueue::enter() const {
  if (!create_status_.ok()) return create_status_;
  return gpu_.enter();
}

CUstream CudaQueue::stream() const {
  const Capture* const capture = Capture::of(gpu_);
  return capture ? capture->stream : stream_;
}

bool CudaQueue::recording() const { return Capture::of(gpu_) != nullptr; }

Status CudaQueue::copy(const CopyRows& rows) {
  ANYNPU_TRY(enter());
  return enqueue_copy(gpu_, rows, stream());
}

Status CudaQueue::fill(void* address, int value, size_t bytes) {
  ANYNPU_TRY(enter());
  return enqueue_fill(address, value, bytes, stream());
}

std::shared_ptr<QueueMark> CudaQueue::mark() {
  if (recording() || !enter().ok()) return nullptr;
  return record_mark(gpu_, stream_);
}

bool CudaQueue::can_wait(const QueueMark& mark) const {
  return dynamic_cast<const CudaMark*>(&mark) != nullptr;
}

Status CudaQueue::wait(const std::shared_ptr<QueueMark>& mark) {
  ANYNPU_TRY(enter());
  const CUevent event = static_cast<const CudaMark&>(*mark).event();
  return cuda_status(driver().cuStreamWaitEvent(stream(), event, 0), "waiting for an event");
}

bool CudaQueue::begin_work(const TimedWork& work) {
  return enter().ok() && Profiler::begin_work(*this, work);
}

void CudaQueue::end_work() { Profiler::end_work(*this); }

// A queue with an error counts as busy, so that when_idle() can report the error.
// So does one that records: what it was given is still to be done.
bool CudaQueue::idle() const {
  if (recording()) return false;
  return !create_status_.ok() ||
         (gpu_.enter().ok() && driver().cuStreamQuery(stream_) == CUDA_SUCCESS &&
          !(faults_ && faults_->any()));
}

void CudaQueue::when_idle(std::function<void(Status)> done) {
  if (const Status entered = enter(); !entered.ok()) return done(entered);
  auto* const callback = new IdleCallback;
  callback->done = std::move(done);
  callback->faults = faults_;
  callback->run = [](ThreadPool::Job& job) {
    const std::unique_ptr<IdleCallback> owned(static_cast<IdleCallback*>(&job));
    owned->done(std::move(owned->status));
  };
  const CUresult added = driver().cuStreamAddCallback(stream_, on_idle, callback, 0);
  if (added == CUDA_SUCCESS) return;
  const std::unique_ptr<IdleCallback> owned(callback);
  owned->done(cuda_status(added, "work in a stream of the GPU"));
}

// Releases the resources that the GPU no longer uses.
void CudaQueue::release_kept() {
  while (!kept_.empty() && driver().cuEventQuery(kept_.front().done) != CUDA_ERROR_NOT_READY) {
    spare_events_.push_back(kept_.front().done);
    kept_.pop_front();
  }
}

void CudaQueue::keep(std::shared_ptr<void> resource) {
  if (!enter().ok()) return;
  if (Capture* const capture = Capture::of(gpu_)) {
    capture->resources.push_back(std::move(resource));
    return;
  }
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
  if (recording()) return fail(Code::internal, "a capture cannot wait for the GPU");
  Status status = cuda_status(driver().cuStreamSynchronize(stream_), "work in a stream of the GPU");
  release_kept();
  return status.ok() ? take_device_error() : status;
}

Status CudaQueue::make_branches() {
  branches_.resize(1, stream_);
  while (branches_.size() < kBranches) {
    CUstream branch = nullptr;
    ANYNPU_TRY(cuda_status(driver().cuStreamCreateWithPriority(&branch, CU_STREAM_NON_BLOCKING, 0),
                           "making a stream"));
    branches_.push_back(branch);
  }
  return {};
}

namespace {

// Events of one capture, destroyed at its end.
struct RecordedEvents {
  std::vector<CUevent> all;
  ~RecordedEvents() {
    for (const CUevent event : all) driver().cuEventDestroy(event);
  }
  Result<CUevent> record(CUstream stream) {
    CUevent event = nullptr;
    ANYNPU_TRY(cuda_status(driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "an event"));
    all.push_back(event);
    ANYNPU_TRY(cuda_status(driver().cuEventRecord(event, stream), "an event"));
    return event;
  }
};

}  // namespace

// Captures into kBranches streams, joined by events. A part continues the branch that ends in one
// of its dependencies; otherwise it takes the least recently used branch.
Status CudaQueue::capture(const std::vector<Part>& parts, Capture& current) {
  const Driver& cuda = driver();
  RecordedEvents events;
  ANYNPU_ASSIGN(const CUevent start, events.record(stream_));
  std::vector<int64_t> last(kBranches, -1);  // the last part of each branch, or -1
  std::vector<size_t> branch_of(parts.size());
  std::vector<CUevent> done(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto continues = [&](size_t branch) {
      return std::any_of(parts[i].after.begin(), parts[i].after.end(),
                         [&](uint32_t before) { return last[branch] == before; });
    };
    size_t branch = 0;
    for (size_t b = 1; b < kBranches; ++b) {
      if (continues(branch)) break;
      if (continues(b) || last[b] < last[branch]) branch = b;
    }
    if (last[branch] < 0 && branch > 0)
      ANYNPU_TRY(cuda_status(cuda.cuStreamWaitEvent(branches_[branch], start, 0), "waiting"));
    for (const uint32_t before : parts[i].after) {
      if (branch_of[before] != branch)
        ANYNPU_TRY(
            cuda_status(cuda.cuStreamWaitEvent(branches_[branch], done[before], 0), "waiting"));
    }
    current.stream = branches_[branch];
    ANYNPU_TRY(parts[i].work());
    ANYNPU_ASSIGN(done[i], events.record(current.stream));
    branch_of[i] = branch;
    last[branch] = static_cast<int64_t>(i);
  }
  for (size_t b = 1; b < kBranches; ++b) {
    if (last[b] >= 0)
      ANYNPU_TRY(cuda_status(cuda.cuStreamWaitEvent(stream_, done[static_cast<size_t>(last[b])], 0),
                             "waiting"));
  }
  return {};
}

namespace {

// A graph that can be launched, and what its work refers to.
struct Recording {
  ~Recording() {
    if (gpu->enter().ok()) driver().cuGraphExecDestroy(graph);
  }
  const Gpu* gpu;
  CUgraphExec graph;
  std::vector<std::shared_ptr<void>> resources;
};

}  // namespace

std::shared_ptr<void> CudaQueue::record(const std::vector<Part>& parts) {
  const Driver& cuda = driver();
  if (Capture::current || !enter().ok() || !make_branches().ok() ||
      cuda.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) != CUDA_SUCCESS)
    return nullptr;
  Capture current{&gpu_, stream_, {}};
  Capture::current = &current;
  const Status given = capture(parts, current);
  Capture::current = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  if (cuda.cuStreamEndCapture(stream_, &graph) == CUDA_SUCCESS && given.ok())
    cuda.cuGraphInstantiate(&ready, graph, 0);
  if (graph) cuda.cuGraphDestroy(graph);
  if (!ready) {
    ANYNPU_LOG(info, "GPU {}: {} pieces of work are not captured: {}", gpu_.unit(), parts.size(),
               given.ok() ? "the driver refused the capture" : given.to_string());
    return nullptr;
  }
  return std::shared_ptr<Recording>(new Recording{&gpu_, ready, std::move(current.resources)});
}

Status CudaQueue::replay(const std::shared_ptr<void>& recording) {
  ANYNPU_TRY(enter());
  return cuda_status(
      driver().cuGraphLaunch(static_cast<const Recording*>(recording.get())->graph, stream_),
      "launching a graph");
}

}  // namespace anynpu::device::cuda
