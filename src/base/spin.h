// SPDX-License-Identifier: Apache-2.0
// What a loop does that waits for another thread for a moment: the processor is told, so that the
// other hyper-thread runs meanwhile and the loop ends without a pipeline flush.
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
