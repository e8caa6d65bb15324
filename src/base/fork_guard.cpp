// SPDX-License-Identifier: Apache-2.0
#include "base/fork_guard.h"

#include <pthread.h>

namespace anynpu {

namespace detail {
std::atomic<bool> forked_child{false};
std::atomic<bool> calls_gated{false};
}  // namespace detail

void gate_calls_for_faults() { detail::calls_gated.store(true); }

void mark_runtime_used() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    detail::forked_child.store(true);
    detail::calls_gated.store(true);
  });
  (void)registered;
}

Status explain_fork() {
  return fail(Code::forked_process,
              "this process was forked from one that had used AnyNPU, whose threads and devices do "
              "not exist here; expected calls in the parent only, or a fork before the first call");
}

}  // namespace anynpu
