// SPDX-License-Identifier: Apache-2.0
// Reductions over axes that are an input.
#include <algorithm>

#include "base/text.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

Ints positive_axes(Builder& b, size_t input, int64_t rank) {
  Ints axes = b.in_values(input);
  for (int64_t& axis : axes) axis = b.axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

ValueId reduce_over(Builder& b, ValueId x, const Ints& axes, bool keep) {
  if (axes.empty()) return b.type() == "EuclideanNorm" ? b.node("Abs", 13, {x}) : x;
  const bool truth = b.type() == "All" || b.type() == "Any";
  const DType type = b.dtype(x);
  if (truth) x = b.cast(x, DType::u8);
  const int64_t opset = truth ? 18 : b.row().opset;
  const ValueId y =
      b.node(b.row().becomes, opset, {x, b.list(axes)}, {{"keepdims", int64_t{keep}}});
  return truth ? b.cast(y, type) : y;
}

// The mean over all axes of a picture is a pooling, which has the faster kernel.
bool is_spatial(const Ints& axes, int64_t rank) {
  if (static_cast<int64_t>(axes.size()) != rank - 2) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i) + 2) return false;
  }
  return true;
}

}  // namespace

void lower_reduce(Builder& b) {
  const bool keep = b.flag("keep_dims", false);
  const ValueId last = b.is_first(0) ? b.in_first(0) : b.in(0);
  if (!b.ok()) return;
  if (!b.is_known(1) && b.ok()) {
    const ValueId x = b.in(0), axes = b.in_row(1);
    if (b.row().opset == 0)
      return b.refuse(Code::unsupported_feature, "its axes come at run time; make them a constant");
    return b.out(0,
                 b.node(b.row().becomes, b.row().opset, {x, axes}, {{"keepdims", int64_t{keep}}}));
  }
  if (!b.has_shape(last)) {
    const Ints axes = b.in_values(1);
    return b.out(0, reduce_over(b, b.in(0), axes, keep));
  }
  const Ints axes = positive_axes(b, 1, b.rank(last));
  if (!b.ok()) return;
  if (!b.is_first(0)) return b.out(0, reduce_over(b, last, axes, keep));
  const auto rank = static_cast<size_t>(b.rank(last));
  Ints moved;
  for (int64_t axis : axes) moved.push_back(first_axis(axis, rank));
  std::sort(moved.begin(), moved.end());
  // Without the axes, what is left must stand in the order of the model.
  const bool channels_go = contains(moved, int64_t{1});
  const bool pictures_go =
      static_cast<size_t>(
          std::count_if(moved.begin(), moved.end(), [](int64_t a) { return a > 1; })) == rank - 2;
  // Over the channels alone: a normalisation, which the compiler knows along the last axis.
  const bool normalises = keep && moved == Ints{1};
  if ((!keep && !channels_go && !pictures_go) || normalises)
    return b.out(0, reduce_over(b, b.in(0), axes, keep));
  ValueId y;
  const bool floating =
      b.dtype(last) == DType::f32 || b.dtype(last) == DType::f16 || b.dtype(last) == DType::bf16;
  if (b.type() == "Mean" && floating && is_spatial(moved, static_cast<int64_t>(rank))) {
    y = b.node("GlobalAveragePool", 1, {last});
    if (!keep) y = b.squeeze(y, moved);
  } else {
    y = reduce_over(b, last, moved, keep);
  }
  keep ? b.out_first(0, y) : b.out(0, y);
}

}  // namespace anynpu::tensorflow
