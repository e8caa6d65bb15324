// SPDX-License-Identifier: Apache-2.0
#include "cuda/queue_mark.h"

#include <map>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "cuda/transfer.h"

namespace anynpu::device::cuda {

namespace {

// The driver gives times between events as float milliseconds: over ten seconds they are exact to a
// microsecond.
constexpr uint64_t kClockLastsNs = 10'000'000'000;

struct Spares {
  std::mutex mutex;
  std::map<int, std::vector<CUevent>> events;  // by GPU
  std::map<int, ClockEvent> clocks;            // older ones stay alive: marks refer to them
};
Spares& spares() {
  static auto* one = new Spares;
  return *one;
}

// An event of now, on a stream with no work.
ClockEvent read_clock(const Gpu& gpu) {
  const Driver& cuda = driver();
  const auto stream = stream_of_thread(gpu);
  ClockEvent clock;
  if (!stream.ok() || cuda.cuEventCreate(&clock.event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) return {};
  const uint64_t before = now_ns();
  if (cuda.cuEventRecord(clock.event, *stream) != CUDA_SUCCESS ||
      cuda.cuEventSynchronize(clock.event) != CUDA_SUCCESS) {
    cuda.cuEventDestroy(clock.event);
    return {};
  }
  clock.host_ns = before + (now_ns() - before) / 2;
  return clock;
}

ClockEvent clock_of(const Gpu& gpu) {
  const std::lock_guard lock(spares().mutex);
  ClockEvent& clock = spares().clocks[gpu.unit()];
  if (!clock.event || now_ns() - clock.host_ns > kClockLastsNs) clock = read_clock(gpu);
  return clock;
}

CUevent take_event(const Gpu& gpu) {
  {
    const std::lock_guard lock(spares().mutex);
    auto& events = spares().events[gpu.unit()];
    if (!events.empty()) {
      const CUevent event = events.back();
      events.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  driver().cuEventCreate(&event, CU_EVENT_DEFAULT);
  return event;
}

}  // namespace

std::shared_ptr<CudaMark> record_mark(const Gpu& gpu, CUstream stream) {
  const ClockEvent clock = clock_of(gpu);
  const CUevent event = clock.event ? take_event(gpu) : nullptr;
  if (!event) return nullptr;
  auto mark = std::make_shared<CudaMark>(gpu, event, clock);
  return driver().cuEventRecord(event, stream) == CUDA_SUCCESS ? mark : nullptr;
}

CudaMark::~CudaMark() {
  const std::lock_guard lock(spares().mutex);
  spares().events[gpu_.unit()].push_back(event_);
}

bool CudaMark::passed() const {
  if (time_ns_.load(std::memory_order_relaxed)) return true;
  return !gpu_.enter().ok() || driver().cuEventQuery(event_) != CUDA_ERROR_NOT_READY;
}

uint64_t CudaMark::time_ns() const {
  if (const uint64_t known = time_ns_.load(std::memory_order_relaxed)) return known;
  float ms = 0;
  if (!gpu_.enter().ok() || driver().cuEventElapsedTime(&ms, clock_.event, event_) != CUDA_SUCCESS)
    return 0;
  const auto since = static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  const uint64_t time = clock_.host_ns + static_cast<uint64_t>(since);
  time_ns_.store(time, std::memory_order_relaxed);
  return time;
}

}  // namespace anynpu::device::cuda
