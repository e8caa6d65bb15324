// SPDX-License-Identifier: Apache-2.0
// Converts ticks to nanoseconds of the steady clock, for one session, by a continuous piecewise
// linear function. A tick always has the same time, and later ticks have later times, so slices
// that nest in ticks nest in nanoseconds. Each piece is corrected towards the steady clock, so the
// two never drift apart. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ticks.h"

namespace anynpu::prof {

class ClockLine {
 public:
  ClockLine() { restart(); }
  void restart();
  // Starts a new piece when it is time to. Call when everything recorded so far was converted.
  void advance();

  uint64_t to_ns(uint64_t ticks) const {
    size_t i = pieces_.size() - 1;
    while (i > 0 && pieces_[i].ticks > ticks) --i;
    return pieces_[i].at(ticks);
  }
  uint64_t duration_ns(uint64_t begin, uint64_t duration) const {
    return to_ns(begin + duration) - to_ns(begin);
  }

 private:
  struct Piece {
    uint64_t ticks;
    uint64_t ns;
    double slope;
    uint64_t at(uint64_t t) const {
      const auto distance = static_cast<double>(static_cast<int64_t>(t - ticks));
      return ns + static_cast<uint64_t>(static_cast<int64_t>(distance * slope));
    }
  };
  std::vector<Piece> pieces_;
};

}  // namespace anynpu::prof
