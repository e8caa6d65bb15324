// SPDX-License-Identifier: Apache-2.0
// Device-side errors: kernels report bad data, such as an index out of range. A kernel writes the
// number of its check and the value to a small buffer in pinned host memory (the board). The next
// synchronization of any queue of that GPU returns the error. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace anynpu::device::cuda {

class Gpu;

class Faults {
 public:
  // The instance for `gpu`, created on first use and never destroyed. Fails if out of memory.
  static Result<Faults*> of(const Gpu& gpu);

  // Registers a node by its label and returns the `number` that generated kernels pass to
  // fault(board, number, value, extent).
  uint64_t add(std::string label);
  volatile int64_t* board() const { return board_; }

  bool any() const { return board_[0] != 0; }
  // Returns and clears the error, with the same message as the CPU kernels.
  Status take();

 private:
  explicit Faults(int64_t* board) : board_(board) {}
  volatile int64_t* const board_;  // number of the check (0: no error), value, extent
  std::mutex mutex_;
  std::vector<std::string> labels_;
};

}  // namespace anynpu::device::cuda
