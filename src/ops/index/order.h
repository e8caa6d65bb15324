// SPDX-License-Identifier: Apache-2.0
// The order of numbers that sorting and searching use: NaN is larger than all others and equal to
// itself, as numpy has it. A plain < is no order where NaN may be among the values.
#pragma once

namespace anynpu::ops {

template <typename W>
bool comes_before(W a, W b) {
  return a < b || (b != b && a == a);
}

}  // namespace anynpu::ops
