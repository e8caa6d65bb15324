// SPDX-License-Identifier: Apache-2.0
// A child made by fork() has none of its parent's threads, and may have locks that are never
// released. So in a child of a process that had started the runtime every call fails and none
// hangs; a child of a process that only imported the library starts fresh.
#pragma once

#include <atomic>

#include "base/status.h"

namespace anynpu {

namespace detail {
extern std::atomic<bool> forked_child;
extern std::atomic<bool> calls_gated;  // also set then: the only flag that a call tests
}  // namespace detail

// True in a forked child whose parent had called mark_runtime_used(). A load and a branch.
inline bool in_forked_child() { return detail::forked_child.load(std::memory_order_relaxed); }
// Whether calls need the slow path: after a fork, or when faults are injected
// (fault_injection.h).
inline bool calls_are_gated() { return detail::calls_gated.load(std::memory_order_relaxed); }
// From now on calls check for injected faults.
void gate_calls_for_faults();

// Called by whatever first creates state that does not survive a fork (threads, devices, memory).
void mark_runtime_used();

// What every call in such a child returns.
Status explain_fork();

}  // namespace anynpu
