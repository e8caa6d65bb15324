// SPDX-License-Identifier: Apache-2.0
// OpCase: one node with random inputs, run by any kernel of its operator and compared with the
// reference. The tests and the tool `benchop` use it, and both read the same text:
//   "Conv shape=1x64x56x56,64x64x3x3,64 pads=1,1,1,1 strides=1,1 dtype=float32 opset=13"
// Keys: shape (one per input, `_` = left out, scalar allowed), dtype (one for all, or one per input
// of which the last is repeated), opset, domain, seed, ints=N:a,b (input N is an int64 constant
// with these values), const=1,2 (inputs that are constants; 1 and 2 by default for Conv and Gemm),
// outputs; any other key is an attribute (integer, real, list or text by its schema).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/registry.h"

namespace anynpu::ops {

// Gives a node of a test every output that its operator requires; those it has stay.
void name_required_outputs(graph::Node& node);

class OpCase {
 public:
  static Result<OpCase> parse(std::string_view text);

  // The context with shapes inferred and with input 0 (and every other input that can be) stored in
  // `layout`.
  Result<OpContext> context(Layout layout = Layout::plain) const;

  // Runs `kernel` `times` times on one thread pool; the outputs come back in plain layout.
  // `best_ns` receives the shortest run when it is not null.
  Result<std::vector<std::vector<std::byte>>> run(const KernelDef& kernel, Layout layout,
                                                  int times = 1, double* best_ns = nullptr) const;

  // Floating multiply-adds x 2 of the node when that is meaningful (Conv, Gemm, MatMul), else 0.
  double flops() const;

  const graph::Node& node() const { return node_; }
  std::vector<std::vector<std::byte>>& data() { return data_; }

 private:
  graph::Node node_;
  std::vector<Operand> inputs_;
  std::vector<std::vector<std::byte>> data_;
};

// Largest |a - b| / (atol + rtol * |b|) over all elements: at most 1 passes. NaN matches NaN.
double worst_error(DType dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b);

// Runs every kernel of the case's operator that takes it, in both layouts where it can, and
// compares with the reference (the last of the list). `compared` counts the runs.
Status check_all_kernels(const OpCase& op_case, int* compared = nullptr);

}  // namespace anynpu::ops
