// SPDX-License-Identifier: Apache-2.0
// Runs a kernel on the cores of a cluster. Cores are states (core.h), not threads: the calling
// thread runs them in turn, slice by slice; when a launch takes longer than 50 us, helpers of the
// pool take part. A core in sync() waits in a list until the last one arrives, so eight cores can
// synchronize on any number of host threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "npc/core.h"
#include "npc/counters.h"
#include "npc/services.h"
#include "npc/translate/host_core.h"

namespace anynpu::npc {

// The state shared by all launches of a cluster: the stacks in global memory.
struct LaunchFrame {
  std::shared_ptr<Memory> memory;
  uint32_t stacks = 0;                                  // kCores times a guard and a stack
  std::array<std::unique_ptr<HostCore>, kCores> hosts;  // made by the first translated launch
};

// The lowest address of a core's stack.
constexpr uint32_t stack_of(uint32_t stacks, uint32_t core) {
  return stacks + core * (kStackGuard + kStackBytes) + kStackGuard;
}

struct LaunchSetup {
  const Image* image = nullptr;
  std::string kernel;  // for messages
  uint32_t entry = 0;
  std::vector<uint32_t> args;
  int core_num = 1;
  int blocks = 1;  // core i runs blocks i, i + core_num, ...
  uint64_t budget = 0;
  uint64_t timeout_ns = 0;          // 0: none
  bool is_default_timeout = false;  // that of ANYNPU_NPC_TIMEOUT
};

// Runs to the end. Fills counters and trap report of `stats`; see Cluster::launch.
Status run_launch(LaunchFrame& frame, const LaunchSetup& setup, PrintSink& sink,
                  LaunchStats& stats);

}  // namespace anynpu::npc
