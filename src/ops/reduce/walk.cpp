// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/walk.h"

namespace anynpu::ops::reduce {

ReduceWalk reduce_walk(const Shape& shape, const std::vector<bool>& reduce) {
  ReduceWalk walk;
  const auto strides = strides_of(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduce[i]) {
      walk.kept.push_back(shape[i]);
      walk.kept_stride.push_back(strides[i]);
      walk.outputs *= shape[i];
      continue;
    }
    walk.length *= shape[i];
    if (shape[i] == 1) continue;
    if (!walk.reduced.empty() && walk.reduced_stride.back() == strides[i] * shape[i]) {
      walk.reduced.back() *= shape[i];
      walk.reduced_stride.back() = strides[i];
    } else {
      walk.reduced.push_back(shape[i]);
      walk.reduced_stride.push_back(strides[i]);
    }
  }
  if (walk.reduced.empty()) {
    walk.reduced = {1};
    walk.reduced_stride = {1};
  }
  return walk;
}

int64_t ReduceWalk::base(int64_t output) const {
  int64_t offset = 0;
  for (size_t d = kept.size(); d-- > 0;) {
    offset += output % kept[d] * kept_stride[d];
    output /= kept[d];
  }
  return offset;
}

void ReduceWalk::run(int64_t at, int64_t& offset, int64_t& step, int64_t& count) const {
  const int64_t inner = reduced.back();
  step = reduced_stride.back();
  count = inner - at % inner;
  offset = at % inner * step;
  at /= inner;
  for (size_t d = reduced.size() - 1; d-- > 0;) {
    offset += at % reduced[d] * reduced_stride[d];
    at /= reduced[d];
  }
}

Result<ReduceAxes> reduce_axes(const OpContext& context) {
  ReduceAxes result;
  std::vector<int64_t> axes = context.ints_attr("axes");
  if (context.has_input(1)) {
    const IntegerList list = integers_of(context.inputs[1]);
    result.known = list.known;
    axes = list.values;
  }
  const auto rank = context.inputs[0].rank();
  const bool all = axes.empty() && context.int_attr("noop_with_empty_axes") == 0;
  result.reduce.assign(static_cast<size_t>(rank), all);
  for (int64_t raw : axes) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, raw, rank));
    result.reduce[static_cast<size_t>(axis)] = true;
  }
  return result;
}

}  // namespace anynpu::ops::reduce
