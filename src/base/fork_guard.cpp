// SPDX-License-Identifier: Apache-2.0
#include "base/fork_guard.h"

#include <pthread.h>

namespace anynpu {

namespace detail {
std::atomic<bool> forked_child{false};
}

void mark_runtime_used() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { detail::forked_child.store(true); });
  (void)registered;
}

}  // namespace anynpu
