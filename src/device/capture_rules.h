// SPDX-License-Identifier: Apache-2.0
// The open stream captures of this process, and what they forbid: synchronous calls on memory that
// recorded tasks may use. A capture has a mode, and so has each thread. Thread-safe; without an
// open capture a check is one load.
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
// Sets the mode of the calling thread (initially `global`) and returns the previous one.
CaptureMode exchange_thread_mode(CaptureMode mode);

class OpenCapture {
 public:
  // Started by the calling thread; in force from open_now() to close(), which the derived class
  // must call while it is fully constructed.
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

// If this thread may not make an unsafe call now: fails, and invalidates the captures concerned.
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
