// SPDX-License-Identifier: Apache-2.0
// Memory faults of code that runs under our control. One handler for SIGSEGV and SIGBUS, installed
// on first use; it acts only on threads that armed it and passes every other fault on to the
// handler that the program had. Each thread that arms it gets an alternate signal stack.
#pragma once

#include <ucontext.h>

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace anynpu {

// Runs inside the signal handler: only async-signal-safe work. True: the thread continues at
// `context`. False: the fault is not ours.
using FaultHandler = bool (*)(void* cookie, const siginfo_t& info, ucontext_t& context);

// Installs the handler, or reinstalls it if it was replaced. Thread-safe.
void install_fault_guard();

// A fault in this range that ends the process first prints `text`, which lives as long as the
// process. For a few ranges; more are not noted. Thread-safe.
void explain_faults(uintptr_t begin, size_t bytes, const char* text);

class FaultScope {
 public:
  FaultScope(FaultHandler handler, void* cookie);
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;

 private:
  FaultHandler before_;
  void* before_cookie_;
};

}  // namespace anynpu
