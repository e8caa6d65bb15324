// SPDX-License-Identifier: Apache-2.0
// The recorder for stc-prof: with ANYNPU_STC_PROF=<folder>, every kernel and copy is written to
// <folder>/hpe-<pid>.jsonl, one line of JSON each, at the latest when the process ends. Off: a load
// and a branch. Thread-safe; never fails (if the folder cannot be written, the lines are lost).
#pragma once

#include <cstdint>

#include "npc/counters.h"

namespace anynpu::npc {

// Null when nothing is recorded.
class Recorder;
Recorder* recorder();

class Recorder {
 public:
  // `thread`: the id of the thread that launched it.
  void add_kernel(const LaunchStats& stats, uint32_t stream, int thread);
  // `kind`: "h2d", "d2h" or "d2d".
  void add_copy(const char* kind, int cluster, uint64_t bytes, uint64_t start_ns, uint64_t end_ns);
};

}  // namespace anynpu::npc
