// SPDX-License-Identifier: Apache-2.0
// Lets a language runtime interrupt a blocking wait. Python installs a check that runs its signal
// handlers; waits on the main thread call it every 50 ms, without holding a lock of ours.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/clock.h"

namespace anynpu {

// Returns true when the wait should end (Ctrl-C). Null removes the check.
void set_interrupt_check(bool (*check)());

// Runs the check if one is installed and this is the main thread.
bool interrupted();

enum class WaitEnd { woken, timed_out, interrupted };

// One turn of a wait: sleeps on `wake` until notified, the deadline, or the next interrupt check.
// `lock` is held on entry and on return, and released while the check runs. Callers loop over their
// own condition; spurious `woken` results are allowed.
WaitEnd wait_turn(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
                  const Deadline& deadline);

}  // namespace anynpu
