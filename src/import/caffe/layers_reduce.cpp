// SPDX-License-Identifier: Apache-2.0
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

// With an axis: the winners (or their values) along it. Without: over everything but the batch, as
// N x 1 x top_k, or N x 2 x top_k with the values behind the indices.
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
  ValueId indices = 0, values = 0;
  const bool need_values = with_values;
  if (top_k == 1 && !need_values) {
    // Of equal elements Caffe takes the last.
    ANYNPU_ASSIGN(
        indices,
        b.add("ArgMax", {x},
              {{"axis", axis}, {"keepdims", int64_t{1}}, {"select_last_index", int64_t{1}}}));
  } else {
    ANYNPU_ASSIGN(const auto made,
                  b.add_several("TopK", {x, b.integers({top_k})}, {{"axis", axis}}, 2));
    values = made[0];
    indices = made[1];
  }
  if (along && with_values) return b.set_top(0, values);
  ANYNPU_ASSIGN(indices, b.add("Cast", {indices}, {{"to", int64_t{1}}}));
  if (!with_values) return b.set_top(0, indices);
  return b.set_top(0, b.add("Concat", {indices, values}, {{"axis", int64_t{1}}}));
}

}  // namespace anynpu::caffe
