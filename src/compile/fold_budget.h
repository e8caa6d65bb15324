// SPDX-License-Identifier: Apache-2.0
// Limits constant folding: a small file must not turn into gigabytes of weights or hours of work. A
// node beyond the budget is not folded and runs with the model.
#pragma once

#include <cstddef>

#include "graph/graph.h"
#include "ops/schema.h"

namespace anynpu::compile {

class FoldBudget {
 public:
  // In proportion to the constants of `graph`.
  explicit FoldBudget(const graph::Graph& graph);

  // Whether to evaluate the node of `context`: its inputs are constants, its result is not much
  // larger than they are, and its bytes and its work fit into what is left of the budget, which
  // they are then taken from. The same answer on every machine.
  bool take(const ops::OpContext& context);

 private:
  double bytes_ = 0;
  double work_ = 0;  // elements read and written, products summed
};

}  // namespace anynpu::compile
