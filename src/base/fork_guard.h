// SPDX-License-Identifier: Apache-2.0
// A child made by fork() has none of its parent's threads, and perhaps locks that stay held. So a
// child of a process that had started the runtime is told so on every call, and never hangs; a
// child of a process that only imported the library is like new.
#pragma once

#include <atomic>

#include "base/status.h"

namespace anynpu {

namespace detail {
extern std::atomic<bool> forked_child;
extern std::atomic<bool> calls_gated;  // set with it, too: the one thing that a call tests
}  // namespace detail

// True in a forked child whose parent had called mark_runtime_used(). A load and a branch.
inline bool in_forked_child() { return detail::forked_child.load(std::memory_order_relaxed); }
// Something has to be looked at before a call: a fork, or a fault that was asked for
// (fault_injection.h).
inline bool calls_are_gated() { return detail::calls_gated.load(std::memory_order_relaxed); }
// From now on calls ask for faults.
void gate_calls_for_faults();

// Called by whatever first creates state that does not survive a fork (threads, devices, memory).
void mark_runtime_used();

// What every call of such a child returns.
Status explain_fork();

}  // namespace anynpu
