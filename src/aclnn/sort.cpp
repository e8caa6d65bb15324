// SPDX-License-Identifier: Apache-2.0
// Order along an axis: sorting, the largest, the median, running sums.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// A scalar as a list of one, truth values as integers.
Value sortable(Recipe& r) {
  Value x = r.in("self");
  if (r.dtype(x) == DType::boolean) x = r.cast(x, DType::u8);
  return r.rank("self") == 0 ? r.reshape(x, {1}) : x;
}

void write(Recipe& r, Param out, Value value) {
  if (r.given(out)) r.out(out, r.reshape(value, r.shape(out)));
}

Values ordered(Recipe& r, Value x, int64_t axis, int64_t count, bool largest) {
  return r.ops("TopK", {x, r.constant({count})}, 2,
               {{"axis", axis}, {"largest", largest}, {"sorted", 1}});
}

void sort(Recipe& r) {
  const Value x = sortable(r);
  const int64_t axis = r.axis("dim", r.rank("self"));
  const auto made = ordered(r, x, axis, r.extent(x, axis), r.flag("descending"));
  if (r.row().number) return write(r, "out", made[1]);
  write(r, "valuesOut", made[0]);
  write(r, "indicesOut", made[1]);
}

void top_k(Recipe& r) {
  const Value x = sortable(r);
  const int64_t axis = r.axis("dim", r.rank("self"));
  const auto made = ordered(r, x, axis, r.integer("k"), r.flag("largest"));
  write(r, "valuesOut", made[0]);
  write(r, "indicesOut", made[1]);
}

// Value and place of the k-th smallest.
void pick(Recipe& r, Value x, int64_t axis, int64_t k) {
  const int64_t extent = r.extent(x, axis);
  if (k < 1 || k > extent) refuse("k is {}; expected 1 to {}", k, extent);
  const auto made = ordered(r, x, axis, k, false);
  write(r, "valuesOut", r.slice(made[0], axis, k - 1, k));
  write(r, "indicesOut", r.slice(made[1], axis, k - 1, k));
}

void kth_value(Recipe& r) { pick(r, sortable(r), r.axis("dim", r.rank("self")), r.integer("k")); }

// The lower one of two in the middle.
void median(Recipe& r) {
  Value x = sortable(r);
  if (!r.row().number) x = r.reshape(x, {r.tensor("self").count()});
  const int64_t axis = r.row().number ? r.axis("dim", r.rank("self")) : 0;
  pick(r, x, axis, (r.extent(x, axis) + 1) / 2);
}

// Largest or smallest along an axis and where it stands first; `op` is Max or Min.
void extreme(Recipe& r) {
  const Value x = sortable(r);
  const int64_t axis = r.axis("dim", r.rank("self"));
  const std::string name = r.row().op;
  write(r, "out", r.op(("Reduce" + name).c_str(), {x, r.constant({axis})}, {{"keepdims", 1}}));
  write(r, "indices", r.op(("Arg" + name).c_str(), {x}, {{"axis", axis}, {"keepdims", 1}}));
}

void arg_extreme(Recipe& r) {
  const Value x = sortable(r);
  write(r, "out",
        r.op(r.row().op, {x}, {{"axis", r.axis("dim", r.rank("self"))}, {"keepdims", 1}}));
}

// Sums or products up to each element; the axis may be a scalar.
void running(Recipe& r) {
  const DType type = computed_in(r.dtype("out"));
  Value x = r.cast(r.in(0), type);
  if (r.rank(0) == 0) x = r.reshape(x, {1});
  int64_t axis;
  if (r.row().number) {
    axis = r.scalar("dim").integer();
    if (axis < 0) axis += static_cast<int64_t>(std::max<size_t>(r.rank(0), 1));
  } else {
    axis = r.axis("dim", r.rank(0));
  }
  const Value y = r.op(r.row().op, {x, r.constant(DType::i64, static_cast<double>(axis))});
  r.out("out", r.reshape(y, r.shape("out")));
}

void running_product(Recipe& r) {
  const DType type = computed_in(r.dtype("input"));
  const auto rank = static_cast<int64_t>(std::max<size_t>(r.rank("input"), 1));
  int64_t axis = r.scalar("dim").integer();
  if (axis < -rank || axis >= rank) refuse("dim is {}; expected {} to {}", axis, -rank, rank - 1);
  if (axis < 0) axis += rank;
  Value x = r.cast(r.in("input"), type);
  if (r.rank("input") == 0) x = r.reshape(x, {1});
  const Value y = r.op("CumProd", {x, r.constant(DType::i64, static_cast<double>(axis))});
  r.out("input", r.reshape(y, r.shape("input")));
}

void running_v2(Recipe& r) {
  const DType type = computed_in(r.dtype("out"));
  const auto axis = static_cast<double>(r.axis("dim", r.rank(0)));
  const Value y = r.op("CumSum", {r.cast(sortable(r), type), r.constant(DType::i64, axis)},
                       {{"exclusive", r.flag("exclusive")}, {"reverse", r.flag("reverse")}});
  r.out("out", r.reshape(y, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnSort", sort},
    {"aclnnArgsort", sort, "", false, 1},
    {"aclnnTopk", top_k},
    {"aclnnKthvalue", kth_value},
    {"aclnnMedian", median},
    {"aclnnMedianDim", median, "", false, 1},
    {"aclnnMaxDim", extreme, "Max"},
    {"aclnnMinDim", extreme, "Min"},
    {"aclnnArgMax", arg_extreme, "ArgMax"},
    {"aclnnArgMin", arg_extreme, "ArgMin"},
    {"aclnnCumsum", running, "CumSum"},
    {"aclnnCumsumV2", running_v2},
    {"aclnnCumprod", running, "CumProd", false, 1},
    {"aclnnInplaceCumprod", running_product},
};

}  // namespace

std::span<const Row> sort_rows() { return kRows; }

}  // namespace anynpu::aclnn
