// SPDX-License-Identifier: Apache-2.0
// Limits constant folding: a small file must not turn into gigabytes of weights or hours of work. A
// node beyond the budget is not folded and is computed at run time.
#pragma once

#include <cstddef>

#include "graph/graph.h"
#include "ops/schema.h"

namespace anynpu::compile {

class FoldBudget {
 public:
  // In proportion to the constants of `graph`.
  explicit FoldBudget(const graph::Graph& graph);

  // Whether to fold the node of `context`: its inputs are constants, its result is not much larger
  // than they are, and its bytes and work fit the remaining budget, from which they are then
  // subtracted. The answer is the same on every machine.
  bool take(const ops::OpContext& context);

 private:
  double bytes_ = 0;
  double work_ = 0;  // elements read and written, products summed
};

}  // namespace anynpu::compile
