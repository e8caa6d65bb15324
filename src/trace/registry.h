// SPDX-License-Identifier: Apache-2.0
// Owns the rings and hands one to each thread that records. Nothing exists until the first enabled
// event; no thread is started. Memory is bounded by kPoolBytes for all rings together and by
// kMostRings of them: a thread that finds no ring or no room records nothing and its events are
// counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ticks.h"
#include "trace/event.h"

namespace anynpu::trace {

constexpr size_t kMostRings = 256;
// Two million events: a drain that gets no core may fall 40 s behind at 50,000 events per second.
constexpr size_t kPoolBytes = size_t{64} << 20;
constexpr size_t kPoolEvents = kPoolBytes / sizeof(Event);
constexpr size_t kBlockEvents = 2048;  // by which a ring grows

struct ThreadInfo {
  uint64_t id = 0;  // as gettid()
  NameId name = 0;  // the thread's own name when it recorded first
};

// What a drain reports. Called on the draining thread, under the drain's lock: never drain from
// inside a visitor. Recording from inside is allowed and shows up in the next drain.
class DrainVisitor {
 public:
  virtual ~DrainVisitor() = default;
  // First of all: how to turn Event::tsc and duration into nanoseconds of the steady clock.
  virtual void on_clock(const TickScale& scale) {}
  // A run of events of one thread, oldest first; slices are in the order in which they ended.
  virtual void on_events(const ThreadInfo& thread, std::span<const Event> events) = 0;
  // Events dropped since the last drain for lack of room; thread.id is 0 when no ring was free.
  virtual void on_lost(const ThreadInfo& thread, uint64_t count) {}
};

// Delivers every event recorded before the call and frees its memory. One drain at a time: a second
// caller waits. Producers are never blocked.
void drain(DrainVisitor& visitor);

// Events that become known later and elsewhere: what a device did. Sources live as long as the
// process.
class Source {
 public:
  virtual ~Source() = default;
  // In each drain, after the rings; under the drain's lock.
  virtual void deliver(DrainVisitor& visitor) = 0;
  // The mask of what is recorded was set.
  virtual void mask_changed(uint32_t mask) {}
};
void add_source(Source& source);

// Drops all events recorded so far, at the start of a session.
void discard();

// Called by a recording thread as its ring and the pool fill up (Ring::fill_hook), so that the
// drain starts in time. Must be quick and take no lock; null for none.
using FillHook = void (*)();
void set_fill_hook(FillHook hook);

struct RingStats {
  size_t rings = 0;   // made so far; never freed, reused
  size_t in_use = 0;  // owned by a live thread
};
RingStats ring_stats();

}  // namespace anynpu::trace
