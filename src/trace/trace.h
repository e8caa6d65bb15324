// SPDX-License-Identifier: Apache-2.0
// The interface for trace points in all modules.
//
//   ANYNPU_TRACE_ZONE(copy, "memcpy");                     until the end of the block
//   ANYNPU_TRACE_ZONE(api, "aclrtMemcpy", correlation);    tied to the tasks it causes
//   TraceZone zone(Category::op, node.name_id);            a name interned at load
//   instant(Category::user, id);  counter(id, bytes_in_use);
//
// Off (no bit of the mask set): one relaxed load and a branch, no thread, no memory. On: two clock
// reads and a 32-byte store in the thread's own ring; no lock and no allocation once the thread has
// its ring and the trace point its name. Nothing here can fail; a full ring drops and counts.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/ticks.h"
#include "trace/event.h"
#include "trace/names.h"

namespace anynpu::trace {

namespace detail {
extern std::atomic<Mask> mask;
extern std::atomic<uint32_t> last_correlation;
void record(const Event& event);
}  // namespace detail

// Which categories are recorded, for all threads. Bits of kAllCategories; others are ignored.
// A child of fork starts with none.
void set_mask(Mask mask);
inline Mask mask() { return detail::mask.load(std::memory_order_relaxed); }
inline bool enabled(Category category) { return (mask() & bit(category)) != 0; }

// A unique number (it repeats after 2^32 calls); never 0.
inline uint32_t next_correlation() {
  uint32_t id = detail::last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  return id ? id : detail::last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
}

// The correlation of the API call that this thread is in, 0 outside of one or when tracing is off.
// A task stores it when it is enqueued.
uint32_t current_correlation();
class CorrelationScope {
 public:
  explicit CorrelationScope(uint32_t correlation);
  ~CorrelationScope();
  CorrelationScope(const CorrelationScope&) = delete;
  CorrelationScope& operator=(const CorrelationScope&) = delete;

 private:
  uint32_t before_;
};

// A slice that was timed elsewhere, in ticks().
inline void slice(Category category, NameId name, uint64_t begin, uint64_t end,
                  uint32_t correlation = 0, uint64_t arg = 0) {
  if (!enabled(category)) return;
  detail::record(make_event(category, Phase::slice, name, begin, end > begin ? end - begin : 0,
                            correlation, arg));
}

// The same with a detail, which goes before it.
inline void slice(Category category, NameId name, uint64_t begin, uint64_t end,
                  uint32_t correlation, uint64_t arg, const Detail& detail) {
  if (!enabled(category)) return;
  detail::record(make_event(category, Phase::detail, detail.second, begin, detail.extra,
                            detail.first, detail.arg));
  slice(category, name, begin, end, correlation, arg);
}

inline void instant(Category category, NameId name, uint32_t correlation, uint64_t arg,
                    const Detail& detail) {
  if (!enabled(category)) return;
  const uint64_t now = ticks();
  detail::record(make_event(category, Phase::detail, detail.second, now, detail.extra, detail.first,
                            detail.arg));
  detail::record(make_event(category, Phase::instant, name, now, 0, correlation, arg));
}

inline void instant(Category category, NameId name, uint32_t correlation = 0, uint64_t arg = 0) {
  if (!enabled(category)) return;
  detail::record(make_event(category, Phase::instant, name, ticks(), 0, correlation, arg));
}

inline void counter(NameId name, int64_t value) {
  if (!enabled(Category::counter)) return;
  detail::record(make_event(Category::counter, Phase::counter, name, ticks(), 0, 0,
                            static_cast<uint64_t>(value)));
}

// Records the time from construction to destruction as one slice. A zone is recorded only if its
// category was on at both ends, so nothing is recorded after a session has ended.
class TraceZone {
 public:
  TraceZone(Category category, NameId name, uint32_t correlation = 0, uint64_t arg = 0)
      : category_(category) {
    if (enabled(category)) [[unlikely]]
      start(name, correlation, arg);
  }
  TraceZone(Category category, StaticName& name, uint32_t correlation = 0, uint64_t arg = 0)
      : category_(category) {
    if (enabled(category)) [[unlikely]]
      start(name.id(), correlation, arg);
  }
  ~TraceZone() {
    if (begin_) [[unlikely]] {
      slice(category_, name_, begin_, ticks(), correlation_, arg_);
    }
  }
  TraceZone(const TraceZone&) = delete;
  TraceZone& operator=(const TraceZone&) = delete;

  // Whether this zone is being recorded: guard for work that only serves the trace.
  bool recording() const { return begin_ != 0; }
  // Sets what is known only at the end: a result code, a number of bytes.
  void set_arg(uint64_t arg) { arg_ = arg; }

 private:
  void start(NameId name, uint32_t correlation, uint64_t arg) {
    name_ = name;
    correlation_ = correlation;
    arg_ = arg;
    begin_ = ticks();
  }

  uint64_t begin_ = 0;
  uint64_t arg_;
  uint32_t correlation_;
  NameId name_;
  Category category_;
};

}  // namespace anynpu::trace

#define ANYNPU_TRACE_CONCAT_(a, b) a##b
#define ANYNPU_TRACE_CONCAT(a, b) ANYNPU_TRACE_CONCAT_(a, b)
// ANYNPU_TRACE_ZONE(category, "literal" [, correlation [, arg]])
#define ANYNPU_TRACE_ZONE(category, literal, ...)                                         \
  static constinit ::anynpu::trace::StaticName ANYNPU_TRACE_CONCAT(trace_name_,           \
                                                                   __LINE__){"" literal}; \
  const ::anynpu::trace::TraceZone ANYNPU_TRACE_CONCAT(trace_zone_, __LINE__)(            \
      ::anynpu::trace::Category::category,                                                \
      ANYNPU_TRACE_CONCAT(trace_name_, __LINE__) __VA_OPT__(, ) __VA_ARGS__)
