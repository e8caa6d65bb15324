// SPDX-License-Identifier: Apache-2.0
// A pause instruction for short spin loops: the other hyper-thread gets the core meanwhile, and the
// loop ends without a pipeline flush.
#pragma once

#include <thread>

namespace anynpu {

inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#else
  std::this_thread::yield();
#endif
}

}  // namespace anynpu
