// SPDX-License-Identifier: Apache-2.0
// Reductions over axes: sums, extremes, truth, moments, norms. Axes go by the parameter after the
// tensor; an empty list means all of them.
#include <cmath>
#include <limits>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// `x` reduced by `op`, whose second input are the axes.
Value reduced(Recipe& r, const char* op, Value x, const std::vector<int64_t>& axes, bool keep) {
  if (axes.empty()) return x;
  return r.op(op, {x, r.constant(axes)}, {{"keepdims", keep}});
}

// Number of elements that go into one of the result.
double reduced_count(const Shape& shape, const std::vector<int64_t>& axes) {
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(shape[static_cast<size_t>(axis)]);
  return count;
}

// Integers are summed in the type of the output.
void sum(Recipe& r) {
  const Value x = r.cast(r.in(0), computed_in(r.dtype("out")));
  r.out("out", reduced(r, "ReduceSum", x, r.axes(1, r.rank(0)), r.flag(2)));
}

void nan_sum(Recipe& r) {
  const DType type = computed_in(r.dtype("out"));
  Value x = r.cast(r.in(0), type);
  if (is_floating(type)) x = r.op("Where", {r.op("IsNaN", {x}), r.constant(type, 0), x});
  r.out("out", reduced(r, "ReduceSum", x, r.axes(1, r.rank(0)), r.flag(2)));
}

Value mean_of(Recipe& r, Value x, const std::vector<int64_t>& axes, bool keep) {
  const double count = reduced_count(r.shape(x), axes);
  return r.op("Div", {reduced(r, "ReduceSum", x, axes, keep), r.constant(r.dtype(x), count)});
}

void mean(Recipe& r) {
  const Value x = r.cast(r.in(0), computed_in(floating(r.dtype("out"))));
  r.out("out", mean_of(r, x, r.axes(1, r.rank(0)), r.flag(2)));
}

void extreme(Recipe& r) {
  const Value x = r.cast(r.in(0), r.dtype(0) == DType::boolean ? DType::i32 : r.dtype(0));
  r.out("out", reduced(r, r.row().op, x, r.axes(1, r.rank(0)), r.flag(2)));
}

// Of all elements.
void extreme_of_all(Recipe& r) {
  const Value x = r.cast(r.in(0), r.dtype(0) == DType::boolean ? DType::i32 : r.dtype(0));
  std::vector<int64_t> axes;
  for (size_t i = 0; i < r.rank(0); ++i) axes.push_back(static_cast<int64_t>(i));
  r.out("out", reduced(r, r.row().op, x, axes, false));
}

// Smallest and largest.
void min_and_max(Recipe& r) {
  const Value x = r.cast(r.in(0), r.dtype(0) == DType::boolean ? DType::i32 : r.dtype(0));
  std::vector<int64_t> axes;
  bool keep = false;
  if (r.row().number == 0) {
    for (size_t i = 0; i < r.rank(0); ++i) axes.push_back(static_cast<int64_t>(i));
  } else {
    axes = r.row().number == 1 ? std::vector<int64_t>{r.axis("dim", r.rank(0))}
                               : r.axes("dim", r.rank(0));
    if (r.rank(0) == 0) axes.clear();
    keep = r.flag("keepDim");
  }
  r.out("minOut", reduced(r, "ReduceMin", x, axes, keep));
  r.out("maxOut", reduced(r, "ReduceMax", x, axes, keep));
}

// Whether any element, or all, are true: the largest or smallest of them.
void truth(Recipe& r) {
  const Value x = r.cast(r.cast(r.in(0), DType::boolean), DType::i32);
  const auto axes = r.axes(1, r.rank(0));
  if (reduced_count(r.shape(0), axes) == 0) {
    return r.out("out",
                 r.filled(r.dtype("out"), r.shape("out"), static_cast<double>(r.row().number)));
  }
  r.out("out", r.cast(reduced(r, r.row().op, x, axes, r.flag(2)), DType::boolean));
}

void product(Recipe& r) {
  const Value x = r.cast(r.in(0), computed_in(r.dtype("out")));
  std::vector<int64_t> axes;
  if (r.row().number) {
    if (r.rank(0) > 0) axes = {r.axis("dim", r.rank(0))};
    return r.out("out", reduced(r, "ReduceProd", x, axes, r.flag("keepDim")));
  }
  for (size_t i = 0; i < r.rank(0); ++i) axes.push_back(static_cast<int64_t>(i));
  r.out("out", reduced(r, "ReduceProd", x, axes, false));
}

struct Moments {
  Value mean, variance;
};

// `correction` is taken off the number of elements.
Moments moments(Recipe& r, const std::vector<int64_t>& axes, double correction, bool keep) {
  const DType type = computed_in(floating(r.dtype(0)));
  const Value x = r.cast(r.in(0), type), mean = mean_of(r, x, axes, true);
  const Value off = r.op("Sub", {x, mean});
  const double count = reduced_count(r.shape(0), axes) - correction;
  const Value squares = reduced(r, "ReduceSum", r.op("Mul", {off, off}), axes, keep);
  const Value variance = r.op("Div", {squares, r.constant(type, std::fmax(count, 0))});
  return {keep ? mean : mean_of(r, x, axes, false), variance};
}

// number: 1 variance, 2 its root, 4 the mean too.
void deviation(Recipe& r) {
  const int64_t kind = r.row().number;
  const auto axes = r.axes("dim", r.rank(0));
  const double correction =
      kind & 8 ? (r.flag("unbiased") ? 1 : 0) : static_cast<double>(r.integer("correction"));
  const Moments found = moments(r, axes, correction, r.flag("keepdim"));
  const Value y = kind & 2 ? r.op("Sqrt", {found.variance}) : found.variance;
  r.out(!(kind & 4) ? "out" : kind & 2 ? "stdOut" : "varOut", y);
  if (kind & 4) r.out("meanOut", found.mean);
}

// The norm of order p over axes.
Value norm_of(Recipe& r, Value x, double p, const std::vector<int64_t>& axes, bool keep) {
  const DType type = r.dtype(x);
  const Value size = r.op("Abs", {x});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (p == kInfinity) return reduced(r, "ReduceMax", size, axes, keep);
  if (p == -kInfinity) return reduced(r, "ReduceMin", size, axes, keep);
  if (p == 0) {
    const Value counted = r.cast(r.op("Not", {r.op("Equal", {x, r.constant(type, 0)})}), type);
    return reduced(r, "ReduceSum", counted, axes, keep);
  }
  if (p == 1) return reduced(r, "ReduceSum", size, axes, keep);
  if (p == 2) {
    return r.op("Sqrt", {reduced(r, "ReduceSum", r.op("Mul", {x, x}), axes, keep)});
  }
  const Value powers = r.op("Pow", {size, r.constant(type, p)});
  return r.op("Pow", {reduced(r, "ReduceSum", powers, axes, keep), r.constant(type, 1 / p)});
}

// aclnnNorm(self, pScalar, dim, keepdim, out), aclnnLinalgVectorNorm(self, ord, dims, keepDims,
// ...)
void norm(Recipe& r) {
  const Value x = r.cast(r.in(0), computed_in(floating(r.dtype("out"))));
  const double p = r.given(1) ? r.scalar(1).real() : 2;
  r.out("out", norm_of(r, x, p, r.axes(2, r.rank(0)), r.flag(3)));
}

void log_sum_exp(Recipe& r) {
  const Value x = r.cast(r.in(0), computed_in(floating(r.dtype("out"))));
  const auto axes = r.axes("dim", r.rank(0));
  if (axes.empty()) return r.out("out", x);
  r.out("out", reduced(r, "ReduceLogSumExp", x, axes, r.flag("keepDim")));
}

const Row kRows[] = {
    {"aclnnReduceSum", sum},
    {"aclnnReduceNansum", nan_sum},
    {"aclnnMean", mean},
    {"aclnnMeanV2", mean},
    {"aclnnAmax", extreme, "ReduceMax"},
    {"aclnnAmin", extreme, "ReduceMin"},
    {"aclnnMax", extreme_of_all, "ReduceMax"},
    {"aclnnMin", extreme_of_all, "ReduceMin"},
    {"aclnnMaxV2", extreme, "ReduceMax"},
    {"aclnnAminmaxAll", min_and_max, "", false, 0},
    {"aclnnAminmaxDim", min_and_max, "", false, 1},
    {"aclnnAminmax", min_and_max, "", false, 2},
    {"aclnnAny", truth, "ReduceMax", false, 0},
    {"aclnnAll", truth, "ReduceMin", false, 1},
    {"aclnnProd", product},
    {"aclnnProdDim", product, "", false, 1},
    {"aclnnVar", deviation, "", false, 1 | 8},
    {"aclnnVarCorrection", deviation, "", false, 1},
    {"aclnnVarMean", deviation, "", false, 1 | 4},
    {"aclnnStd", deviation, "", false, 2},
    {"aclnnStdMeanCorrection", deviation, "", false, 2 | 4},
    {"aclnnNorm", norm},
    {"aclnnLinalgVectorNorm", norm},
    {"aclnnLogSumExp", log_sum_exp},
};

}  // namespace

std::span<const Row> reduce_rows() { return kRows; }

}  // namespace anynpu::aclnn
