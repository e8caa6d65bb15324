// SPDX-License-Identifier: Apache-2.0
// Adds the partial sums of several jobs (split k) and runs the epilogue. Included after multiply.h,
// in the same way.
#pragma once

#include "ops/amx/multiply.h"

namespace anynpu::ops::amx {
namespace {

template <typename Tiles>
void add_sums(const Job& job, int64_t parts, int64_t step) {
  alignas(64) float total[kBlockSums];
  for (int64_t block = 0; block < job.row_panels * job.column_panels; ++block) {
    const float* const first = job.sums + block * kBlockSums;
    for (int64_t i = 0; i < kBlockSums; i += kRows) {
      Floats sum = load_floats(first + i);
      for (int64_t part = 1; part < parts; ++part) sum += load_floats(first + part * step + i);
      std::memcpy(total + i, &sum, sizeof sum);
    }
    PendingBlock ready{total, nullptr, job.row + block / job.column_panels * kPanel,
                       job.column + block % job.column_panels * kPanel, 0};
    run_epilogue<Tiles, false, false>(*job.epilogue, ready, kPanel);
  }
}

}  // namespace
}  // namespace anynpu::ops::amx
