// SPDX-License-Identifier: Apache-2.0
// The profiling context of the process: which launches are counted, and their counters. The order
// of calls is create, enable, disable, release; another order fails with bad_call_order. A launch
// is profiled if it was submitted between enable and disable. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "npc/counters.h"

namespace anynpu::npc {

class KernelProfile {
 public:
  static KernelProfile& instance();

  Status create();
  Status enable();  // clears earlier results
  Status disable();
  Status release();  // refused while enabled
  void release_any();

  bool enabled() const { return state_.load(std::memory_order_relaxed) == State::enabled; }
  // Ignored without a context: it was released while the kernel ran.
  void add(LaunchStats stats);
  // Finished launches so far, in the order they ended. Fails before the first enable.
  Result<std::vector<LaunchStats>> collected() const;
  // Keeps data alive that a caller has a pointer to, until the next call or until the context is
  // released.
  void keep(std::shared_ptr<const void> given);

 private:
  enum class State : uint8_t { none, created, enabled, disabled };
  Status move_on(State from, State other, State to, const char* what);

  mutable std::mutex mutex_;
  std::atomic<State> state_{State::none};
  std::vector<LaunchStats> launches_;
  std::shared_ptr<const void> given_;
};

}  // namespace anynpu::npc
