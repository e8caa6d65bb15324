// SPDX-License-Identifier: Apache-2.0
// Cancellation of work that may run for a long time, such as a loop inside a model. Whoever runs
// the work (a stream) opens a scope around it; the work calls check_cancelled() now and then.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace anynpu {

// While it lives, check_cancelled() of this thread asks `is_cancelled(owner, number)`. Scopes nest;
// the innermost counts.
class CancellationScope {
 public:
  using IsCancelled = bool (*)(const void* owner, uint64_t number);
  CancellationScope(IsCancelled is_cancelled, const void* owner, uint64_t number);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  friend Status check_cancelled();
  const IsCancelled is_cancelled_;
  const void* const owner_;
  const uint64_t number_;
  CancellationScope* const outer_;
};

// `aborted` when the owner cancelled the work; `cancelled` on Ctrl-C in the main thread, which is
// checked every 50 ms. Otherwise ok, in a few nanoseconds.
Status check_cancelled();

}  // namespace anynpu
