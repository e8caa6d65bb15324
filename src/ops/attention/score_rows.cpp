// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/score_rows.h"

#include <algorithm>
#include <cmath>

#include "ops/attention/elements.h"

namespace anynpu::ops::attention {

ScoreRows::ScoreRows(const OpContext& context, const AttentionShape& a, Isa isa)
    : a_(a), type_(context.inputs[0].dtype), rows_(&row_set(isa)) {
  if (a.has_mask) mask_type_ = context.inputs[3].dtype;
  load_mask_ = load_block<double>(mask_type_);
}

size_t ScoreRows::mask_floats() const {
  return mask_type_ == DType::f32 ? 0 : static_cast<size_t>(a_.mask_columns);
}

const int64_t* ScoreRows::lengths(const RunArgs& args) const {
  return a_.has_lengths ? input_of<int64_t>(args, 6) : nullptr;
}

// Later rows see no fewer keys at the end. One column at least: a product of none is not defined.
int64_t ScoreRows::limit(const RunArgs& args, int64_t b, int64_t row) const {
  if (a_.scores != Scores::none) return a_.columns;
  return std::max<int64_t>(1, a_.keys_of(b, row, lengths(args)).last);
}

// What is added to the scores of a row, in place or in `scratch`.
const float* ScoreRows::mask_line(const RunArgs& args, int64_t b, int64_t h, int64_t row,
                                  float* scratch) const {
  const int64_t from = a_.mask_offset(b, h, row);
  if (kTiledTypes.has(mask_type_))
    return Elements{mask_type_, args.inputs[3]}.line(from, a_.mask_columns, scratch);
  double part[kBlockLength];
  for (int64_t at = 0; at < a_.mask_columns; at += kBlockLength) {
    const int64_t n = std::min(kBlockLength, a_.mask_columns - at);
    load_mask_(args.inputs[3], from + at, 1, part, n);
    for (int64_t i = 0; i < n; ++i) {
      scratch[at + i] = mask_type_ != DType::boolean ? static_cast<float>(part[i])
                        : part[i] != 0               ? 0.0f
                                                     : -INFINITY;
    }
  }
  return scratch;
}

void ScoreRows::emit(const RunArgs& args, Scores stage, int64_t head, int64_t row,
                     const float* line) const {
  if (a_.scores != stage) return;
  const int64_t at = (head * a_.rows + row) * a_.columns;
  if (type_ == DType::f32) {
    std::copy_n(line, a_.columns, output_of<float>(args, 3) + at);
  } else {
    narrow(type_, line, args.outputs[3] + static_cast<size_t>(at) * size_of(type_),
           static_cast<size_t>(a_.columns));
  }
}

void ScoreRows::weigh(const RunArgs& args, int64_t head, int64_t row, int64_t limit,
                      float* mask_scratch, float* line) const {
  const int64_t b = head / a_.heads, h = head % a_.heads;
  float scale = a_.scale;
  if (a_.softcap > 0 || a_.scores != Scores::none) {
    for (int64_t j = 0; j < limit; ++j) line[j] *= scale;
    scale = 1;
    emit(args, Scores::product, head, row, line);
  }
  if (a_.softcap > 0) {
    for (int64_t j = 0; j < limit; ++j) line[j] /= a_.softcap;
    rows_->find(RowFunction::tanh)(line, line, limit);
    for (int64_t j = 0; j < limit; ++j) line[j] *= a_.softcap;
  }
  emit(args, Scores::capped, head, row, line);
  const KeyRange range = a_.keys_of(b, row, lengths(args));
  const int64_t first = std::min(range.first, limit), last = std::max(range.last, first);
  const float* added = a_.has_mask ? mask_line(args, b, h, row, mask_scratch) : nullptr;
  bool shut = last <= first;
  if (added && !shut && a_.zero_if_shut)
    shut = std::all_of(added + first, added + last, [](float x) { return x == -INFINITY; });
  if (a_.scores == Scores::masked) {
    std::fill_n(line, first, -INFINITY);
    for (int64_t j = first; added && j < last; ++j) line[j] += added[j];
    std::fill(line + last, line + limit, -INFINITY);
    emit(args, Scores::masked, head, row, line);
    added = nullptr;
  }
  if (shut) {
    std::fill_n(line, limit, 0.0f);
  } else {
    std::fill_n(line, first, 0.0f);
    rows_->softmax(line + first, added ? added + first : nullptr, scale, line + first,
                   last - first);
    std::fill(line + last, line + limit, 0.0f);
  }
  emit(args, Scores::weights, head, row, line);
}

}  // namespace anynpu::ops::attention
