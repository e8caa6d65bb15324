// SPDX-License-Identifier: Apache-2.0
// Waiting with the timeouts of the media functions: -1: forever, 0: not at all, else
// milliseconds.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/interrupt.h"
#include "base/result.h"

namespace anynpu::media {

// Waits on `changed` until ready() holds. Fails with not_complete and `what` when the time is over.
template <typename Ready>
Status wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                  int32_t milliseconds, Ready&& ready, const char* what) {
  if (milliseconds < -1)
    return fail(Code::invalid_argument, "the time is {} ms; expected -1 (for ever) or more",
                milliseconds);
  const Deadline deadline = Deadline::after_ms(milliseconds);
  while (!ready()) {
    const WaitEnd end = milliseconds == 0 ? WaitEnd::timed_out : wait_turn(changed, lock, deadline);
    if (end == WaitEnd::interrupted) return fail(Code::cancelled, "the wait was interrupted");
    if (end == WaitEnd::timed_out && !ready())
      return fail(Code::not_complete, "{} within {} ms", what, milliseconds);
  }
  return {};
}

// The same for room in a queue or buffer: limit_exceeded when the time is over.
template <typename Ready>
Status wait_for_room(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                     int32_t milliseconds, Ready&& ready, const char* what) {
  Status status = wait_until(changed, lock, milliseconds, ready, what);
  if (status.code() != Code::not_complete) return status;
  return fail(Code::limit_exceeded, "{}", status.message());
}

}  // namespace anynpu::media
