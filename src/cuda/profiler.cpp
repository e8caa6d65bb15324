// SPDX-License-Identifier: Apache-2.0
#include "cuda/profiler.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/ticks.h"
#include "cuda/cuda_queue.h"
#include "cuda/cupti.h"
#include "cuda/queue_mark.h"
#include "trace/registry.h"

namespace anynpu::device::cuda {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr auto kNumbers = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
// The numbers come with the records of calls: ours are to the driver, those of cuDNN and cuBLASLt
// to the runtime.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
constexpr trace::Mask kTraced = trace::bit(trace::Category::task) | trace::bit(trace::Category::op);
// Slices of one stream are those of one thread to readers; no real thread has such an id.
constexpr uint64_t kFirstThread = uint64_t{1} << 30;
constexpr auto kPatience = std::chrono::milliseconds(2);
constexpr int kTries = 10;  // for reports of work that is done

struct Span {
  uint64_t begin = UINT64_MAX, end = 0;
  void add(uint64_t from, uint64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
  bool empty() const { return end == 0; }
};

struct Work {
  TimedWork what;
  uint64_t thread = 0;  // that its slice appears in
  uint64_t number = 0;
  uint64_t parent = 0;                    // the work around it
  uint64_t host_begin = 0, host_end = 0;  // ticks
  Span on_device;                         // in CUPTI's nanoseconds
  Span on_host;                           // ticks
  std::vector<uint32_t> correlations;
  std::shared_ptr<QueueMark> done;  // of the outermost work
};

// CUPTI's clock, the steady clock and ticks at one moment.
struct ClockTriple {
  uint64_t cupti = 0;
  ClockPair host;
};

ClockTriple read_clocks() {
  ClockTriple clocks;
  clocks.host = read_clock_pair();
  (void)cupti()->cuptiGetTimestamp(&clocks.cupti);
  return clocks;
}

class Collector final : public trace::Source {
 public:
  static Collector& instance() {
    static auto* const one = new Collector;  // never destroyed: CUPTI's threads may outlive main
    return *one;
  }

  bool begin(CudaQueue& queue, const TimedWork& what);
  void end(CudaQueue& queue);
  void deliver(trace::DrainVisitor& visitor) override;
  void mask_changed(uint32_t mask) override;

 private:
  bool switch_on();
  Status start();
  void take_record(const CUpti_Activity& record);
  void take_times(uint32_t correlation, uint64_t begin, uint64_t end);
  void add_times(uint64_t number, uint64_t begin, uint64_t end);
  Work* find(uint64_t number);
  void drop(const Work& work);
  bool missing_reports() const;
  void emit(trace::DrainVisitor& visitor, const Work& work, const ClockTriple& clocks) const;
  static void CUPTIAPI take_buffer(uint8_t** buffer, size_t* bytes, size_t* most);
  static void CUPTIAPI read_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t bytes);

  std::mutex switch_mutex_;  // guards the next three
  bool tried_ = false, usable_ = false, on_ = false;

  std::mutex mutex_;  // guards what follows
  uint64_t last_number_ = 0;
  std::map<const CudaQueue*, uint64_t> threads_;
  std::deque<Work> open_;                                         // by number
  std::unordered_map<uint32_t, uint64_t> numbers_;                // of CUPTI's correlations
  std::unordered_map<uint32_t, std::vector<Span>> unattributed_;  // reported before its number
};

// Numbers of the work that this thread is in, the innermost last.
thread_local std::vector<uint64_t> t_open;

void CUPTIAPI Collector::take_buffer(uint8_t** buffer, size_t* bytes, size_t* most) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *buffer ? kBufferBytes : 0;
  *most = 0;
}

void CUPTIAPI Collector::read_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t bytes) {
  Collector& all = instance();
  CUpti_Activity* record = nullptr;
  {
    const std::lock_guard lock(all.mutex_);
    while (bytes > 0 &&
           cupti()->cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS)
      all.take_record(*record);
  }
  std::free(buffer);
}

Status Collector::start() {
  if (!cupti().ok()) return cupti().status();
  const Cupti& library = *cupti();
  const auto check = [&](CUptiResult result, const char* what) -> Status {
    if (result == CUPTI_SUCCESS) return {};
    const char* text = nullptr;
    library.cuptiGetResultString(result, &text);
    return fail(Code::unsupported_feature, "{}: CUPTI said {}", what, text ? text : "nothing");
  };
  if (!tried_) {
    ANYNPU_TRY(check(library.cuptiActivityRegisterCallbacks(take_buffer, read_buffer),
                     "registering buffers"));
  }
  for (const CUpti_ActivityKind kind : kKinds)
    ANYNPU_TRY(check(library.cuptiActivityEnable(kind), "recording the work of the GPU"));
  return {};
}

bool Collector::switch_on() {
  const std::lock_guard lock(switch_mutex_);
  if (on_) return true;
  if (tried_ && !usable_) return false;
  const Status started = start();
  if (!tried_ && started.ok()) trace::add_source(*this);
  tried_ = true;
  usable_ = on_ = started.ok();
  if (!on_) {
    ANYNPU_LOG(warning, "profiles have times of the host instead of the GPU's: {}",
               started.to_string());
  }
  return on_;
}

void Collector::mask_changed(uint32_t mask) {
  const std::lock_guard lock(switch_mutex_);
  if (!on_ || (mask & kTraced)) return;
  on_ = false;
  for (const CUpti_ActivityKind kind : kKinds) (void)cupti()->cuptiActivityDisable(kind);
  const std::lock_guard work(mutex_);
  open_.clear();
  numbers_.clear();
  unattributed_.clear();
}

bool Collector::begin(CudaQueue& queue, const TimedWork& what) {
  if (queue.recording() || !switch_on()) return false;
  Work work;
  work.what = what;
  work.parent = t_open.empty() ? 0 : t_open.back();
  work.host_begin = ticks();
  {
    const std::lock_guard lock(mutex_);
    work.number = ++last_number_;
    // An operator outside of a task is part of what this thread does.
    if (what.category == trace::Category::op && !work.parent) {
      work.thread = static_cast<uint64_t>(gettid());
    } else {
      work.thread = threads_.try_emplace(&queue, kFirstThread + threads_.size()).first->second;
    }
    t_open.push_back(work.number);
    open_.push_back(std::move(work));
  }
  (void)cupti()->cuptiActivityPushExternalCorrelationId(kNumbers, t_open.back());
  return true;
}

void Collector::end(CudaQueue& queue) {
  if (t_open.empty()) return;
  uint64_t number = 0;
  (void)cupti()->cuptiActivityPopExternalCorrelationId(kNumbers, &number);
  number = t_open.back();
  t_open.pop_back();
  const auto done = t_open.empty() ? queue.mark() : nullptr;
  const std::lock_guard lock(mutex_);
  Work* const work = find(number);
  if (!work) return;
  work->host_end = ticks();
  work->done = done;
  if (!work->what.on_host) return;
  for (Work* around = work; around; around = find(around->parent))
    around->on_host.add(work->host_begin, work->host_end);
}

Work* Collector::find(uint64_t number) {
  const auto found = std::lower_bound(open_.begin(), open_.end(), number,
                                      [](const Work& work, uint64_t n) { return work.number < n; });
  return found == open_.end() || found->number != number ? nullptr : &*found;
}

void Collector::take_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& tie = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(record);
      if (tie.externalKind != kNumbers) return;
      numbers_[tie.correlationId] = tie.externalId;
      if (Work* const work = find(tie.externalId)) work->correlations.push_back(tie.correlationId);
      const auto early = unattributed_.find(tie.correlationId);
      if (early == unattributed_.end()) return;
      for (const Span& span : early->second) add_times(tie.externalId, span.begin, span.end);
      unattributed_.erase(early);
      return;
    }
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
      return take_times(kernel.correlationId, kernel.start, kernel.end);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
      return take_times(copy.correlationId, copy.start, copy.end);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record);
      return take_times(copy.correlationId, copy.start, copy.end);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      return take_times(fill.correlationId, fill.start, fill.end);
    }
    default:
      return;
  }
}

void Collector::take_times(uint32_t correlation, uint64_t begin, uint64_t end) {
  if (end == 0) return;
  const auto number = numbers_.find(correlation);
  if (number != numbers_.end()) return add_times(number->second, begin, end);
  unattributed_[correlation].push_back({begin, end});
}

void Collector::add_times(uint64_t number, uint64_t begin, uint64_t end) {
  for (Work* work = find(number); work; work = find(work->parent)) work->on_device.add(begin, end);
}

void Collector::drop(const Work& work) {
  for (const uint32_t correlation : work.correlations) numbers_.erase(correlation);
}

// Work that is done, of which nothing was reported.
bool Collector::missing_reports() const {
  return std::any_of(open_.begin(), open_.end(), [](const Work& work) {
    const bool does_something = work.what.category != trace::Category::task ||
                                work.what.detail.second != uint32_t{};  // Engine::control
    return does_something && work.done && work.done->passed() && work.on_device.empty() &&
           work.on_host.empty();
  });
}

void Collector::emit(trace::DrainVisitor& visitor, const Work& work,
                     const ClockTriple& clocks) const {
  const double per_tick = tick_scale().ns_per_tick();
  const auto ticks_of = [&](uint64_t time) {
    const auto away = static_cast<double>(static_cast<int64_t>(time - clocks.cupti));
    return clocks.host.ticks + static_cast<uint64_t>(static_cast<int64_t>(away / per_tick));
  };
  Span span = work.on_host;
  if (!work.on_device.empty() && !work.what.on_host)
    span.add(ticks_of(work.on_device.begin), ticks_of(work.on_device.end));
  if (span.empty()) {  // nothing to do: when the GPU came to it
    const uint64_t passed = work.done ? work.done->time_ns() : 0;
    const auto away = static_cast<double>(static_cast<int64_t>(passed - clocks.host.ns));
    const uint64_t at =
        passed ? clocks.host.ticks + static_cast<uint64_t>(static_cast<int64_t>(away / per_tick))
               : work.host_begin;
    span.add(at, at);
  }
  const uint64_t begin = span.begin, end = span.end;
  const TimedWork& what = work.what;
  std::vector<trace::Event> events;
  if (what.category == trace::Category::task) {
    const uint64_t waited = what.submitted ? begin - std::min(begin, what.submitted) : 0;
    events.push_back(trace::make_event(what.category, trace::Phase::detail, what.detail.second,
                                       begin, waited, what.detail.first, what.detail.arg));
  }
  events.push_back(trace::make_event(what.category, trace::Phase::slice, what.name, begin,
                                     end > begin ? end - begin : 0, what.correlation, what.arg));
  visitor.on_events({work.thread, 0}, events);
}

// Work whose end the GPU has passed is complete once CUPTI has reported it.
void Collector::deliver(trace::DrainVisitor& visitor) {
  for (int tries = 0; tries < kTries; ++tries) {
    // At last also buffers that hold records of work that still runs.
    const bool forced = tries + 2 >= kTries;
    (void)cupti()->cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    {
      const std::lock_guard lock(mutex_);
      if (!missing_reports()) break;
    }
    std::this_thread::sleep_for(kPatience);
  }
  const ClockTriple clocks = read_clocks();
  const std::lock_guard lock(mutex_);
  // Whether work is done, by number: an operator is when the task around it is.
  std::map<uint64_t, bool> done;
  for (const Work& work : open_) {
    const auto around = done.find(work.parent);
    done[work.number] = around != done.end() ? around->second
                                             : work.host_end && (!work.done || work.done->passed());
  }
  std::erase_if(open_, [&](const Work& work) {
    if (!done[work.number]) return false;
    if (trace::enabled(work.what.category)) emit(visitor, work, clocks);
    drop(work);
    return true;
  });
}

}  // namespace

bool Profiler::begin_work(CudaQueue& queue, const TimedWork& work) {
  return Collector::instance().begin(queue, work);
}

void Profiler::end_work(CudaQueue& queue) { Collector::instance().end(queue); }

}  // namespace anynpu::device::cuda
