// SPDX-License-Identifier: Apache-2.0
#include "base/cancellation.h"

#include "base/clock.h"
#include "base/interrupt.h"

namespace anynpu {

namespace {

constexpr uint64_t kLookEveryNs = 50'000'000;

thread_local CancellationScope* innermost = nullptr;
thread_local uint64_t looked_at_ns = 0;

}  // namespace

CancellationScope::CancellationScope(IsCancelled is_cancelled, const void* owner, uint64_t number)
    : is_cancelled_(is_cancelled), owner_(owner), number_(number), outer_(innermost) {
  innermost = this;
}

CancellationScope::~CancellationScope() { innermost = outer_; }

Status check_cancelled() {
  if (innermost && innermost->is_cancelled_(innermost->owner_, innermost->number_)) {
    return fail(Code::aborted, "the stream that the work ran in was aborted");
  }
  const uint64_t now = now_ns();
  if (now - looked_at_ns < kLookEveryNs) return {};
  looked_at_ns = now;
  if (interrupted()) return fail(Code::cancelled, "the work was interrupted by a signal");
  return {};
}

}  // namespace anynpu
