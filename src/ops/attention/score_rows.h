// SPDX-License-Identifier: Apache-2.0
// What happens to a row of scores between the two products of attention, in float32: scale, cap,
// mask and softmax, and the optional output of a stage in between. Immutable once made.
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
  // How many columns of the products the rows up to `row` of a sample need.
  int64_t limit(const RunArgs& args, int64_t b, int64_t row) const;
  // Products of a row of a head (sample * heads + head) become weights. Those of [0, limit) are
  // read and written; `mask_scratch` holds mask_floats().
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
