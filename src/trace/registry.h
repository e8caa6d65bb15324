// SPDX-License-Identifier: Apache-2.0
// Owns the rings and hands one to each thread that records. Nothing exists until the first enabled
// event; no thread is started. Memory is bounded by kMostRings rings: a thread that finds none free
// records nothing and its events are counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ticks.h"
#include "trace/event.h"

namespace anynpu::trace {

constexpr size_t kMostRings = 256;
constexpr size_t kDefaultRingEvents = 16384;  // 512 KiB of address space, touched as it fills

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
  // Events that a full ring dropped since the last drain; thread.id is 0 when no ring was free.
  virtual void on_lost(const ThreadInfo& thread, uint64_t count) {}
};

// Delivers every event recorded before the call and frees its place. One drain at a time: a second
// caller waits. Producers are never stopped.
void drain(DrainVisitor& visitor);

// Throws away what was recorded so far: the start of a session.
void discard();

// Called by a recording thread whenever its ring has taken another quarter of its size, so that
// whoever drains can come before it is full. Must be quick and take no lock; null for none.
using FillHook = void (*)();
void set_fill_hook(FillHook hook);

// Size of rings made from now on; for programs that drain rarely, and for tests.
void set_ring_events(size_t events);

struct RingStats {
  size_t rings = 0;   // made so far; never freed, reused
  size_t in_use = 0;  // owned by a live thread
  size_t bytes = 0;   // address space of all rings
};
RingStats ring_stats();

}  // namespace anynpu::trace
