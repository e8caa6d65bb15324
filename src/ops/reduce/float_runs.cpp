// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/float_runs.h"

#include <limits>

#include "base/clones.h"

namespace anynpu::ops::reduce {

namespace {

// Numbers that do not wait for one another; element i goes into number i % kLanes.
constexpr int64_t kLanes = 32, kPicks = 64;

typedef uint32_t Bits __attribute__((may_alias));
constexpr uint32_t kInfinity = 0x7F800000u, kNoSign = 0x7FFFFFFFu;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// The halves of kLanes are written out, for lengths that are fixed become vector instructions.
// Macros and not templates: clones of templates are not there. `each` makes of a number `v` what is
// added.
#define ANYNPU_SUM_RUN(function, each)                          \
  ANYNPU_CLONES("avx512f", "avx2")                              \
  double function(const float* x, int64_t count) {              \
    const int64_t whole = count / kLanes * kLanes;              \
    double sum = 0;                                             \
    if (whole > 0) {                                            \
      double sums[kLanes] = {};                                 \
      for (int64_t i = 0; i < whole; i += kLanes) {             \
        for (int64_t k = 0; k < kLanes; ++k) {                  \
          const double v = static_cast<double>(x[i + k]);       \
          sums[k] += each;                                      \
        }                                                       \
      }                                                         \
      for (int64_t k = 0; k < 16; ++k) sums[k] += sums[k + 16]; \
      for (int64_t k = 0; k < 8; ++k) sums[k] += sums[k + 8];   \
      for (int64_t k = 0; k < 4; ++k) sums[k] += sums[k + 4];   \
      sums[0] = (sums[0] + sums[2]) + (sums[1] + sums[3]);      \
      sum = sums[0];                                            \
    }                                                           \
    for (int64_t i = whole; i < count; ++i) {                   \
      const double v = static_cast<double>(x[i]);               \
      sum += each;                                              \
    }                                                           \
    return sum;                                                 \
  }

// Comparisons pass over NaN; whether there was one shows in the bits without the sign.
#define ANYNPU_PICK_RUN(function, before)                         \
  ANYNPU_CLONES("avx512f", "avx2")                                \
  double function(const float* x, int64_t count) {                \
    const auto* bits = reinterpret_cast<const Bits*>(x);          \
    const int64_t whole = count / kPicks * kPicks;                \
    float one = x[0];                                             \
    uint32_t largest = 0;                                         \
    if (whole > 0) {                                              \
      float best[kPicks];                                         \
      uint32_t most[kPicks] = {};                                 \
      for (int64_t k = 0; k < kPicks; ++k) best[k] = one;         \
      for (int64_t i = 0; i < whole; i += kPicks) {               \
        for (int64_t k = 0; k < kPicks; ++k) {                    \
          const float v = x[i + k];                               \
          const uint32_t size = bits[i + k] & kNoSign;            \
          best[k] = v before best[k] ? v : best[k];               \
          most[k] = size > most[k] ? size : most[k];              \
        }                                                         \
      }                                                           \
      for (int64_t k = 0; k < kPicks; ++k) {                      \
        one = best[k] before one ? best[k] : one;                 \
        largest = most[k] > largest ? most[k] : largest;          \
      }                                                           \
    }                                                             \
    for (int64_t i = whole; i < count; ++i) {                     \
      const uint32_t size = bits[i] & kNoSign;                    \
      one = x[i] before one ? x[i] : one;                         \
      largest = size > largest ? size : largest;                  \
    }                                                             \
    return largest > kInfinity ? kNan : static_cast<double>(one); \
  }

ANYNPU_SUM_RUN(sum_of_run, v)
ANYNPU_SUM_RUN(squares_of_run, v* v)
ANYNPU_SUM_RUN(sizes_of_run, (v < 0 ? -v : v))
ANYNPU_PICK_RUN(largest_of_run, >)
ANYNPU_PICK_RUN(least_of_run, <)

#undef ANYNPU_SUM_RUN
#undef ANYNPU_PICK_RUN

}  // namespace anynpu::ops::reduce
