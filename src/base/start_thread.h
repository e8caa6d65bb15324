// SPDX-License-Identifier: Apache-2.0
// Starts a thread, or says why the system gives none. For the pool and the few threads beside it
// (docs/mechanisms.md); nobody else starts threads.
#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace anynpu {

// Which signals the thread takes: those of the thread that starts it, or none, because signals are
// the program's business. The caller's own mask is the same afterwards, also after a failure.
enum class Signals { as_caller, none };

// A thread that nobody joins. Code::host_out_of_memory where the system gives none.
Status start_thread(const char* name, Signals signals, std::function<void()> body);
// One to be joined.
Result<std::thread> start_joined_thread(const char* name, Signals signals,
                                        std::function<void()> body);

// Whether the pool (thread_pool.h) has a helper; tries to start them when it has none. Fails, with
// a sentence, where the system gives no thread. Whoever hands the pool work that somebody waits for
// asks first. A load and a branch once they run.
Status helpers_ready();

}  // namespace anynpu
