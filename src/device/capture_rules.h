// SPDX-License-Identifier: Apache-2.0
// Which captures are open in this process, and what they forbid: calls that work at once on memory
// which recorded tasks may use. A capture has a mode, and so has each thread. Thread-safe; without
// an open capture a check is one load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"

namespace anynpu::device {

enum class CaptureMode : int32_t {
  global = 0,     // no thread may make unsafe calls
  in_thread = 1,  // the capturing thread may not
  relaxed = 2,    // all may
};
// Sets the mode of the calling thread, `global` at first, and gives the one before.
CaptureMode exchange_thread_mode(CaptureMode mode);

class OpenCapture {
 public:
  // Begun by the calling thread; it counts from open_now() to close(), which the derived class
  // calls while it is whole.
  explicit OpenCapture(CaptureMode mode);
  virtual ~OpenCapture() = default;
  CaptureMode mode() const { return mode_; }
  bool begun_by_this_thread() const;

 protected:
  void open_now();
  void close();

 private:
  friend Status check_open_captures(const char* call, Code code);
  // A forbidden call was made.
  virtual void invalidate(const Status& why) = 0;
  const CaptureMode mode_;
  const uint32_t thread_;
  bool listed_ = false;
};

inline std::atomic<int> open_captures{0};
Status check_open_captures(const char* call, Code code);

// Fails, and invalidates the captures that mind, when this thread may not make an unsafe call now.
inline Status check_unsafe_call(const char* call) {
  if (open_captures.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  return check_open_captures(call, Code::capture_mode_forbids);
}
// The same for an asynchronous call that would wait for its work.
inline Status check_blocking_call(const char* call) {
  if (open_captures.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  return check_open_captures(call, Code::capture_forbids_waiting);
}

}  // namespace anynpu::device
