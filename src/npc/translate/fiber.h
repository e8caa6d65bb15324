// SPDX-License-Identifier: Apache-2.0
// A stack of its own for code that stops in the middle and is continued later, perhaps by another
// thread. Below the stack lies a guard; pages are taken when they are used. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"

namespace anynpu::npc {

class Fiber {
 public:
  static bool supported();  // on this processor
  static Result<std::unique_ptr<Fiber>> create(size_t bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next resume() calls entry(argument) on the empty stack; it must not return. Whatever was on
  // the stack is forgotten: no destructors run.
  void prepare(void (*entry)(void*), void* argument);
  void resume();   // from a thread; returns at the next suspend()
  void suspend();  // from the fiber; returns at the next resume()

  // Frames that were left without returning may be read: the address sanitizer drops its marks.
  void abandon_frames();

  bool contains(const void* at) const { return at >= low_ && at < top_; }
  bool in_guard(const void* at) const { return at >= low_ - kGuard && at < low_; }

 private:
  static constexpr size_t kGuard = 64 << 10;
  Fiber(std::byte* low, size_t bytes) : low_(low), top_(low + bytes) {}

  std::byte* low_;
  std::byte* top_;
  void* own_ = nullptr;   // stack pointer while suspended
  void* host_ = nullptr;  // of the thread that resumed it
};

}  // namespace anynpu::npc
