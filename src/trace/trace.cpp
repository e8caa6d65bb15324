// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <pthread.h>

#include <mutex>

namespace anynpu::trace {

namespace detail {
constinit std::atomic<Mask> mask{0};
constinit std::atomic<uint32_t> last_correlation{0};
constinit thread_local uint32_t t_correlation = 0;
}  // namespace detail

namespace {

// The consumer does not exist in a child, so its rings would only fill up.
void forget_in_child() { detail::mask.store(0, std::memory_order_relaxed); }

}  // namespace

void set_mask(Mask mask) {
  mask &= kAllCategories;
  if (mask) {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, forget_in_child); });
  }
  detail::mask.store(mask, std::memory_order_relaxed);
}

uint32_t current_correlation() { return mask() ? detail::t_correlation : 0; }

CorrelationScope::CorrelationScope(uint32_t correlation) : before_(detail::t_correlation) {
  detail::t_correlation = correlation;
}
CorrelationScope::~CorrelationScope() { detail::t_correlation = before_; }

}  // namespace anynpu::trace
