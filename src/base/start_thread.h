// SPDX-License-Identifier: Apache-2.0
// Starts a thread, or says why the system cannot. For the pool and the few threads beside it
// (docs/mechanisms.md); no other code starts threads.
#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace anynpu {

// The signal mask of the thread: that of its creator, or everything blocked, because signals belong
// to the program. The caller's own mask does not change, even after a failure.
enum class Signals { as_caller, none };

// A detached thread. Code::host_out_of_memory if the system cannot create one.
Status start_thread(const char* name, Signals signals, std::function<void()> body);
// A thread that the caller joins.
Result<std::thread> start_joined_thread(const char* name, Signals signals,
                                        std::function<void()> body);

// Whether the pool (thread_pool.h) has a helper; tries to start them when it has none. Fails with a
// message if the system cannot create threads. Call it before giving the pool work that is waited
// for. A load and a branch once they run.
Status helpers_ready();

}  // namespace anynpu
