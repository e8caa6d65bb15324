// SPDX-License-Identifier: Apache-2.0
// GroupedMatMul (domain "anynpu"): a grouped GEMM, as the expert layers of a mixture of experts use
// it. The rows of X are split into groups, each with its own matrix; group sizes are given at run
// time. Quantised weights are read as (w + offset) * scale.
//   y[row] = ((x[row] * W[group] + bias[group]) * out_scale[group]) * row_scale[row]
// axis 1 splits K instead: y[group] = X[:, columns] * W[columns, :].
// Rows of no group are 0. Results are float32, or float64 if X is of integers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ops/plain_kernel.h"
#include "ops/simd/isa.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::gemm {

enum GroupedInput : size_t {
  kGroupedX,
  kGroupedSizes,  // int64: group ends, group sizes, or pairs of group and size (list_type)
  // Of quantised weights: f32, groups x quantisation groups of K x (N or 1).
  kGroupedScale,
  kGroupedOffset,
  kGroupedBias,      // f32, groups x N
  kGroupedOutScale,  // f32, groups x (N or 1)
  kGroupedRowScale,  // f32, M
  kGroupedWeights    // one tensor of rank 3, or a matrix for each group
};

struct GroupedShape {
  int64_t groups = 1, m = 0, k = 0, n = 0;
  bool transposed = false;  // W is N x K
  bool by_columns = false;
  bool bias_last = false;  // added after the scales
  int64_t list_type = 0;
  int64_t parts = 1;                           // quantisation groups along K
  int64_t scale_step = 0, out_scale_step = 0;  // along N: 0 = repeated
  bool stacked = false;                        // one tensor of all matrices
  DType weight_type = DType::f32;
};

// All extents known.
Result<GroupedShape> grouped_shape_of(const OpContext& context);

// Rows (axis 1: columns) of one group.
struct GroupRange {
  int64_t begin = 0, end = 0;
};
// Reads the group sizes of a run into `ranges`, shape.groups of them. Fails for sizes that do not
// fit.
Status read_groups(const GroupedShape& shape, const RunArgs& args, const std::string& label,
                   GroupRange* ranges);

PlanResult plan_grouped_reference(const OpContext& context);
template <Isa isa>
Status can_run_grouped(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_grouped(const OpContext& context);

void register_grouped(Registry& registry);

}  // namespace anynpu::ops::gemm
