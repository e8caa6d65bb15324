// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

namespace anynpu::trace {

namespace detail {
constinit std::atomic<Mask> mask{0};
constinit std::atomic<uint32_t> last_correlation{0};
constinit thread_local uint32_t t_correlation = 0;
}  // namespace detail

uint32_t current_correlation() { return mask() ? detail::t_correlation : 0; }

CorrelationScope::CorrelationScope(uint32_t correlation) : before_(detail::t_correlation) {
  detail::t_correlation = correlation;
}
CorrelationScope::~CorrelationScope() { detail::t_correlation = before_; }

}  // namespace anynpu::trace
