// SPDX-License-Identifier: Apache-2.0
// Broadcasting of two shapes by the ONNX (numpy) rule, and the loop nest for it: extents of 1 are
// dropped and adjacent dimensions merged, so that the inner loop is as long as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "tensor/shape.h"

namespace anynpu::ops {

// The common shape; -1 where it depends on an extent that is -1. Fails on extents that differ and
// are not 1.
Result<Shape> broadcast(const Shape& a, const Shape& b);

struct BroadcastLoop {
  std::vector<int64_t> extent;              // outermost first; the last is the inner loop
  std::vector<int64_t> stride_a, stride_b;  // in elements; 0 = repeated
  int64_t outer = 1;                        // product of all but the last
  int64_t inner = 1;
  int64_t inner_a = 1, inner_b = 1;  // strides of the inner loop: 0 or 1

  // Offsets of outer iteration `index` into a and b.
  void offsets(int64_t index, int64_t& a, int64_t& b) const;
};

// Both shapes known; `out` is broadcast(a, b).
BroadcastLoop broadcast_loop(const Shape& a, const Shape& b, const Shape& out);

}  // namespace anynpu::ops
