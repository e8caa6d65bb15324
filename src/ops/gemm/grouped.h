// SPDX-License-Identifier: Apache-2.0
// GroupedMatMul (domain "anynpu"): groups of rows of X, each with a matrix of its own. How many rows
// a group has comes with each run. Weights may be integers, which are read as (w + offset) * scale.
//   y[row] = ((x[row] * W[group] + bias[group]) * out_scale[group]) * row_scale[row]
// Groups of columns instead (axis 1): y[group] = X[:, columns] * W[columns, :].
// Rows of no group are 0. Results are float32, float64 for integers of X.
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
  kGroupedSizes,   // int64: ends of groups, their sizes, or pairs of number and size (list_type)
  kGroupedScale, kGroupedOffset,  // f32, groups x parts of K x N or 1
  kGroupedBias,    // f32, groups x N
  kGroupedOutScale,  // f32, groups x N or 1
  kGroupedRowScale,  // f32, M
  kGroupedWeights  // one of three axes, or a matrix for each group
};

struct GroupedShape {
  int64_t groups = 1, m = 0, k = 0, n = 0;
  bool turned = false;     // W is N x K
  bool by_columns = false;
  bool bias_last = false;  // added to the scaled sums
  int64_t list_type = 0;
  int64_t parts = 1;       // of K that share a scale
  int64_t scale_step = 0, out_scale_step = 0;  // along N: 0 = repeated
  bool stacked = false;    // one tensor of all matrices
  DType weight_type = DType::f32;
};

// All extents known.
Result<GroupedShape> grouped_shape_of(const OpContext& context);

// Rows, or columns, of one group of a run.
struct GroupRange {
  int64_t begin = 0, end = 0;
};
// `ranges` holds shape.groups of them. Fails for sizes that do not fit.
Status read_groups(const GroupedShape& shape, const RunArgs& args, const std::string& label,
                   GroupRange* ranges);

PlanResult plan_grouped_reference(const OpContext& context);
template <Isa isa>
Status can_run_grouped(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_grouped(const OpContext& context);

void register_grouped(Registry& registry);

}  // namespace anynpu::ops::gemm
