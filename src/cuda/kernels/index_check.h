// SPDX-License-Identifier: Apache-2.0
// Lets the kernels of a node report an index out of range (cuda/faults.h): they call
// fault(board, number, value, extent) with these arguments.
#pragma once

#include "cuda/faults.h"
#include "cuda/gpu.h"
#include "ops/schema.h"

namespace anynpu::device::cuda {

struct IndexCheck {
  volatile int64_t* board = nullptr;
  uint64_t number = 0;

  // All GPUs use the board of the first one. Empty if no GPU is in use.
  static Result<IndexCheck> of(const ops::OpContext& context) {
    const auto gpus = Gpu::used();
    if (gpus.empty()) return IndexCheck{};
    ANYNPU_ASSIGN(Faults* const faults, Faults::of(*gpus[0]));
    return IndexCheck{faults->board(), faults->add(context.label())};
  }
};

}  // namespace anynpu::device::cuda
