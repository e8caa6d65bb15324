// SPDX-License-Identifier: Apache-2.0
#include "device/capture_rules.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "device/task.h"

namespace anynpu::device {

namespace {

thread_local CaptureMode thread_mode = CaptureMode::global;

// Never destroyed: captures may end after this file's objects.
std::mutex& list_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::vector<OpenCapture*>& list() {
  static auto* captures = new std::vector<OpenCapture*>;
  return *captures;
}

// Whether a call that works at once, in this thread, invalidates the capture.
bool is_broken_by_calls(const OpenCapture& capture) {
  if (capture.mode() == CaptureMode::relaxed) return false;
  if (capture.begun_by_this_thread()) return thread_mode != CaptureMode::relaxed;
  return capture.mode() == CaptureMode::global && thread_mode == CaptureMode::global;
}

const char* name_of(CaptureMode mode) {
  return mode == CaptureMode::global ? "GLOBAL" : "THREAD_LOCAL";
}

}  // namespace

CaptureMode exchange_thread_mode(CaptureMode mode) { return std::exchange(thread_mode, mode); }

OpenCapture::OpenCapture(CaptureMode mode) : mode_(mode), thread_(current_thread_number()) {}

void OpenCapture::open_now() {
  std::lock_guard lock(list_mutex());
  listed_ = true;
  list().push_back(this);
  open_captures.fetch_add(1, std::memory_order_relaxed);
}

bool OpenCapture::begun_by_this_thread() const { return thread_ == current_thread_number(); }

void OpenCapture::close() {
  std::lock_guard lock(list_mutex());
  if (!std::exchange(listed_, false)) return;
  std::erase(list(), this);
  open_captures.fetch_sub(1, std::memory_order_relaxed);
}

Status check_open_captures(const char* call, Code code) {
  Status first;
  std::lock_guard lock(list_mutex());
  for (OpenCapture* capture : list()) {
    if (!is_broken_by_calls(*capture)) continue;
    Status why =
        fail(code,
             "{} works at once, which a capture of mode {} that {} thread began forbids; "
             "call it before or after the capture, or exchange this thread's mode for "
             "RELAXED (aclmdlRICaptureThreadExchangeMode)",
             call, name_of(capture->mode()), capture->begun_by_this_thread() ? "this" : "another");
    capture->invalidate(why);
    if (first.ok()) first = std::move(why);
  }
  return first;
}

}  // namespace anynpu::device
