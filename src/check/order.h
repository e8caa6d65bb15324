// SPDX-License-Identifier: Apache-2.0
// Happens-before by vector clocks: each stream has a clock, events and waits carry clocks from
// stream to stream, and all host threads share one clock (so that an order made by the program's
// own locks is never reported as a mistake). Work that was queued and not waited for is kept with
// the memory it accesses; an access that is not ordered after it is a finding, even if the timing
// of this run made no difference. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "check/site.h"

namespace anynpu::check {

class Call;

using Clock = std::map<uint64_t, uint64_t>;  // stream -> how many of its tasks are done

enum class Access : uint8_t { read, write };

struct Touched {
  const char* what;  // "dst", "input 0"
  uint64_t address, bytes;
  Access access;
};

// Work that a call queued on a stream; after the call.
void queue_work(Call& call, uint64_t stream, const std::vector<Touched>& touched);
// Work that the call does at once, in the calling thread; before the call.
void host_work(Call& call, const std::vector<Touched>& touched);
// Memory that is about to be freed.
void host_free(Call& call, uint64_t address);

// The clock of a stream now: for events and callbacks.
Clock clock_of(uint64_t stream);
void stream_waits_for(uint64_t stream, const Clock& clock);
void host_waited_for(const Clock& clock);
void host_waited_for_device(int32_t device);
// Everything that was queued is done or gone.
void all_done();
// The host has waited for task `number` of `stream`.
bool is_done(uint64_t stream, uint64_t number);
// Number of the last task of a stream.
uint64_t last_task(uint64_t stream);

}  // namespace anynpu::check
