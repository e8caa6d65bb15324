// SPDX-License-Identifier: Apache-2.0
// How much constant folding may make and compute. A few bytes of file must become neither gigabytes
// of weights nor hours of work: what is not folded stays a node.
#pragma once

#include <cstddef>

#include "graph/graph.h"
#include "ops/schema.h"

namespace anynpu::compile {

class FoldBudget {
 public:
  // Fit for the constants that `graph` brings along.
  explicit FoldBudget(const graph::Graph& graph);

  // Whether the node of `context` is to be evaluated: its inputs are constants, its result is not
  // out of proportion to them, and there is room for both its bytes and its work, which are then
  // taken. The same answer on every machine.
  bool take(const ops::OpContext& context);

 private:
  double bytes_ = 0;
  double work_ = 0;  // elements read and written, products summed
};

}  // namespace anynpu::compile
