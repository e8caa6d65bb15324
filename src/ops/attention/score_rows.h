// SPDX-License-Identifier: Apache-2.0
// The steps between the two products of attention for a row of scores, in float32: scale, cap, mask
// and softmax, and the optional output of an intermediate stage. Immutable.
#pragma once

#include "ops/attention/attention.h"
#include "ops/elements/wide.h"
#include "ops/simd/rows.h"

namespace anynpu::ops::attention {

class ScoreRows {
 public:
  ScoreRows() = default;
  ScoreRows(const OpContext& context, const AttentionShape& a, Isa isa);

  // Floats that weigh() needs for the mask.
  size_t mask_floats() const;
  // The number of columns that the rows up to `row` of a sample need.
  int64_t limit(const RunArgs& args, int64_t b, int64_t row) const;
  // Turns the products of a row of a head (sample * heads + head) into weights, for columns [0,
  // limit); `mask_scratch` holds mask_floats().
  void weigh(const RunArgs& args, int64_t head, int64_t row, int64_t limit, float* mask_scratch,
             float* line) const;

 private:
  const int64_t* lengths(const RunArgs& args) const;
  const float* mask_line(const RunArgs& args, int64_t b, int64_t h, int64_t row,
                         float* scratch) const;
  void emit(const RunArgs& args, Scores stage, int64_t head, int64_t row, const float* line) const;

  AttentionShape a_;
  DType type_ = DType::f32, mask_type_ = DType::f32;
  LoadBlock<double> load_mask_ = nullptr;  // for masks that are no short floats
  const RowSet* rows_ = nullptr;
};

}  // namespace anynpu::ops::attention
