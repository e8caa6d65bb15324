// SPDX-License-Identifier: Apache-2.0
// A separate stack for code that suspends and is resumed later, perhaps by another thread. There is
// a guard page below the stack; pages are allocated on use. One thread at a time.
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

  // The next resume() calls entry(argument) on the empty stack; it must not return. Previous frames
  // are dropped: no destructors run.
  void prepare(void (*entry)(void*), void* argument);
  void resume();   // from a thread; returns at the next suspend()
  void suspend();  // from the fiber; returns at the next resume()

  // Tells the address sanitizer that the abandoned frames may be read.
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
