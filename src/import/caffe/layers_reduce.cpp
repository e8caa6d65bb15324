// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "import/caffe/layers.h"

namespace anynpu::caffe {

using Ints = std::vector<int64_t>;

Status reduction(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "reduction_param");
  const std::string operation = params.word("operation", "SUM");
  const float coefficient = params.real("coeff", 1.0f);
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t axis, b.axis(params.integer("axis", 0, -8, 8), b.rank(x)));
  ANYNPU_TRY(params.status());
  std::string_view op;
  if (operation == "SUM" || operation == "1") op = "ReduceSum";
  if (operation == "ASUM" || operation == "2") op = "ReduceL1";
  if (operation == "SUMSQ" || operation == "3") op = "ReduceSumSquare";
  if (operation == "MEAN" || operation == "4") op = "ReduceMean";
  if (op.empty()) {
    return fail(Code::invalid_argument, "operation is '{}'; expected SUM, ASUM, SUMSQ or MEAN",
                operation);
  }
  Ints axes;
  for (int64_t i = axis; i < b.rank(x); ++i) axes.push_back(i);
  std::vector<ValueId> inputs = {x};
  Attrs attrs = {{"keepdims", int64_t{0}}};
  if (op == "ReduceSum") {
    inputs.push_back(b.integers(axes));
  } else {
    attrs["axes"] = axes;
  }
  ANYNPU_ASSIGN(ValueId y, b.add(op, inputs, attrs));
  if (coefficient != 1.0f) {
    ANYNPU_ASSIGN(y, b.add("Mul", {y, b.scalar(coefficient)}));
  }
  return b.set_top(0, y);
}

namespace {

struct Winners {
  ValueId values, indices;
};

// The largest top_k along `axis`. Of equal elements Caffe takes the last, TopK the first: it works
// on the elements in reverse.
Result<Winners> winners(Builder& b, ValueId x, int64_t axis, int64_t top_k) {
  ANYNPU_ASSIGN(const int64_t extent, b.extent(x, axis));
  const ValueId start = b.integers({-1});
  const ValueId end = b.integers({std::numeric_limits<int64_t>::min()});
  ANYNPU_ASSIGN(const ValueId reversed,
                b.add("Slice", {x, start, end, b.integers({axis}), b.integers({-1})}));
  ANYNPU_ASSIGN(const auto made,
                b.add_several("TopK", {reversed, b.integers({top_k})}, {{"axis", axis}}, 2));
  ANYNPU_ASSIGN(const ValueId indices, b.add("Sub", {b.integers({extent - 1}), made[1]}));
  return Winners{made[0], indices};
}

}  // namespace

// With an axis: the winners (or their values) along it. Without: over everything but the batch, as
// N x 1 x top_k, or N x 2 x top_k with the values behind the indices; ones fill up the rank of the
// bottom.
Status arg_max(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "argmax_param");
  const bool with_values = params.flag("out_max_val", false);
  const int64_t top_k = params.integer("top_k", 1, 1);
  const bool along = params.has("axis");
  const int64_t given = params.integer("axis", 1, -8, 8);
  ANYNPU_TRY(params.status());
  ValueId x = b.bottom(0);
  int64_t axis = 2;
  if (along) {
    ANYNPU_ASSIGN(axis, b.axis(given, b.rank(x)));
  } else {
    ANYNPU_ASSIGN(x, b.reshape(x, {0, 1, -1}));
  }
  Winners found = {};
  if (top_k == 1 && !with_values) {
    ANYNPU_ASSIGN(
        found.indices,
        b.add("ArgMax", {x},
              {{"axis", axis}, {"keepdims", int64_t{1}}, {"select_last_index", int64_t{1}}}));
  } else {
    ANYNPU_ASSIGN(found, winners(b, x, axis, top_k));
  }
  if (along && with_values) return b.set_top(0, found.values);
  ANYNPU_ASSIGN(ValueId y, b.add("Cast", {found.indices}, {{"to", int64_t{1}}}));
  if (along) return b.set_top(0, y);
  if (with_values) {
    ANYNPU_ASSIGN(y, b.add("Concat", {y, found.values}, {{"axis", int64_t{1}}}));
  }
  if (b.rank(b.bottom(0)) <= 3) return b.set_top(0, y);
  Ints target = {0, with_values ? 2 : 1, top_k};
  target.resize(static_cast<size_t>(b.rank(b.bottom(0))), 1);
  return b.set_top(0, b.reshape(y, target));
}

}  // namespace anynpu::caffe
