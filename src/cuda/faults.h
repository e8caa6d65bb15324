// SPDX-License-Identifier: Apache-2.0
// What kernels find wrong in their data while they run, such as an index outside its axis. A kernel
// writes the number of its check and the value to a board in host memory; the next queue of that
// GPU that is waited for tells it. Thread-safe.
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
  // Of one GPU, made on first use; fails where no memory can be had. Never destroyed.
  static Result<Faults*> of(const Gpu& gpu);

  // The number for fault(board, number, value, extent) of generated kernels. `label` is the node.
  uint64_t add(std::string label);
  volatile int64_t* board() const { return board_; }

  bool any() const { return board_[0] != 0; }
  // What was found since the last call, in the words of the host's kernels.
  Status take();

 private:
  explicit Faults(int64_t* board) : board_(board) {}
  volatile int64_t* const board_;  // number of the check, or 0; value; extent
  std::mutex mutex_;
  std::vector<std::string> labels_;
};

}  // namespace anynpu::device::cuda
