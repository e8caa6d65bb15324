// SPDX-License-Identifier: Apache-2.0
// The limit after which a Loop counts as endless.
#pragma once

#include <cstdint>
#include <string>

#include "base/env.h"
#include "base/status.h"

namespace anynpu::exec {

inline int64_t loop_limit() { return env::integer(env::Name::loop_limit); }

// `most`: the trip count; INT64_MAX without one.
inline Status endless_loop(const std::string& label, int64_t iterations, int64_t most) {
  if (most != INT64_MAX) {
    return fail(Code::limit_exceeded,
                "{}: {} iterations are done of a trip count of {}; give it a smaller one, or raise "
                "ANYNPU_LOOP_LIMIT",
                label, iterations, most);
  }
  return fail(Code::limit_exceeded,
              "{}: after {} iterations its condition is still true, and it has no trip count; give "
              "it one, or raise ANYNPU_LOOP_LIMIT",
              label, iterations);
}

}  // namespace anynpu::exec
