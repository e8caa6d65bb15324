// SPDX-License-Identifier: Apache-2.0
// Drains the trace rings into sinks: profiling sessions and subscriptions. One thread does so while
// there is a sink, whenever a thread has recorded trace::Ring::kHookEvents more, and after the
// pause that the sinks request; without a sink there is no thread and nothing is recorded. The
// trace mask is the union of the sinks' masks. Thread-safe; a sink is called by one thread at a
// time.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "prof/clock_line.h"
#include "trace/registry.h"
#include "trace/trace.h"

namespace anynpu::prof {

class Sink : public std::enable_shared_from_this<Sink> {
 public:
  explicit Sink(trace::Mask wants) : wants_(wants) {}
  virtual ~Sink() = default;
  trace::Mask wants() const { return wants_; }
  bool wants(trace::Category category) const { return (wants_ & trace::bit(category)) != 0; }

  // A run of events of one thread, all categories; times in ticks.
  virtual void take(const trace::ThreadInfo& thread, std::span<const trace::Event> events,
                    const ClockLine& clock) = 0;
  virtual void take_lost(const trace::ThreadInfo&, uint64_t) {}
  // After each drain: write out, sample.
  virtual void rest() {}
  // The longest time between drains when no ring fills up. Each drain interrupts the program.
  virtual uint64_t pause_ns() const { return 100'000'000; }

 private:
  trace::Mask wants_;
};

class Collector {
 public:
  static Collector& instance();

  // Adds a sink. Events recorded before the first sink are dropped. Fails, and records nothing, if
  // the system cannot create a thread.
  Status add(std::shared_ptr<Sink> sink);
  // The sink first gets everything recorded before the call; it is not called afterwards.
  void remove(const std::shared_ptr<Sink>& sink);
  // Delivers everything recorded before the call.
  void drain();

 private:
  void run();
  Status start();
  void drain_locked(std::unique_lock<std::mutex>& lock);
  void set_mask_locked();
  uint64_t pause_locked() const;

  std::mutex mutex_;  // guards the rest; held while sinks are called
  std::vector<std::shared_ptr<Sink>> sinks_;
  ClockLine clock_;
  bool thread_runs_ = false;
  uint64_t generation_ = 0;  // a thread whose number is old ends
};

}  // namespace anynpu::prof
