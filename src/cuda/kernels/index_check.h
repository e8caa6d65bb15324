// SPDX-License-Identifier: Apache-2.0
// Where the kernels of a node report values that lie outside (cuda/faults.h): the arguments `board`
// and `number` of fault(board, number, value, extent).
#pragma once

#include "cuda/faults.h"
#include "cuda/gpu.h"
#include "ops/schema.h"

namespace anynpu::device::cuda {

struct IndexCheck {
  volatile int64_t* board = nullptr;
  uint64_t number = 0;

  // The first GPU's board serves the others as well. Empty where there is no GPU.
  static Result<IndexCheck> of(const ops::OpContext& context) {
    const auto gpus = Gpu::used();
    if (gpus.empty()) return IndexCheck{};
    ANYNPU_ASSIGN(Faults* const faults, Faults::of(*gpus[0]));
    return IndexCheck{faults->board(), faults->add(context.label())};
  }
};

}  // namespace anynpu::device::cuda
