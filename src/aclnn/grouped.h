// SPDX-License-Identifier: Apache-2.0
// For recipes that multiply each group of rows by its own matrix (ops/gemm/grouped.h).
#pragma once

#include <vector>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

struct GroupWeights {
  std::vector<Value> matrices;  // one of three axes, or a matrix each
  bool turned = false;          // N x K
  int64_t groups = 1, k = 0, n = 0;
};
// Matrices of K x N elements, N x K with `turned`; integers of 4 bits are unpacked.
GroupWeights group_weights(Recipe& r, Param name, bool turned);

// Parameters of groups, float32: a list of one for each, or one tensor of all. `parts`: of K.
Value of_groups(Recipe& r, const char* name, const GroupWeights& w, bool parts);

struct GroupProduct {
  Value x, sizes;
  int64_t list_type = 0, axis = 0;
  Value scale, offset, bias, out_scale, row_scale;
  bool bias_last = false;
  bool exact = false;  // integers stay integers
};
// A node over rows of two axes.
Value multiply_groups(Recipe& r, const GroupWeights& w, const GroupProduct& p);

// Rows of the last axis.
Value as_rows(Recipe& r, Value x);
// The numbers are those of actType: none, relu, gelu by tanh, gelu, fast gelu, silu.
Value group_activated(Recipe& r, Value x, int64_t kind);

}  // namespace anynpu::aclnn
