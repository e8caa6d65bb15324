// SPDX-License-Identifier: Apache-2.0
// Interpolation axis by axis, in double: each output index is a weighted sum of input indices
// (taps).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ops/elements/wide.h"
#include "ops/kernel.h"

namespace anynpu::ops::resize {

struct Taps {
  int64_t per_output = 1;
  std::vector<int64_t> index;  // out * per_output
  std::vector<double> weight;
  std::vector<bool> outside;  // the extrapolation value instead
};

// One axis of a tensor of outer x in x inner elements.
struct Pass {
  int64_t outer = 1, in = 1, out = 1, inner = 1;
  Taps taps;
};

// The value of a tap outside the image, for each part of a complex element.
using Outside = std::array<double, 2>;

// A tensor of `planes` planes, each of which goes through the passes.
struct WeightedResize {
  std::vector<Pass> passes{};
  int64_t planes = 1, in_plane = 1, out_plane = 1, most = 1, parts = 1;  // of parts of elements
  LoadBlock<double> load = nullptr;
  StoreBlock<double> store = nullptr;
  Outside outside = {};
  size_t threads = 1;  // Target::threads
};

// What plan_weighted_resize gives, for back ends that do the same in their own memory.
struct WeightedPlan : KernelPlan {
  WeightedResize resize;
};

std::unique_ptr<KernelPlan> plan_weighted_resize(WeightedResize resize);

}  // namespace anynpu::ops::resize
