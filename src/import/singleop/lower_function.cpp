// SPDX-License-Identifier: Apache-2.0
// Functions of one or two elements, of logarithms and norms, and tensors made from numbers.
#include <limits>

#include "import/singleop/lower.h"
#include "import/singleop/table.h"
#include "ops/dtype_set.h"
#include "tensor/onnx_type.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

std::vector<int64_t> all_axes(Builder& b, ValueId x) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; b.ok() && axis < b.rank(x); ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

// The function of this name, or of the name in the table.
void lower_function(Builder& b) {
  const std::string name = "anynpu." + std::string(find_vendor_op(b.type())->becomes);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < b.input_count(); ++i) inputs.push_back(b.in(i));
  b.out(0, b.node(name.c_str(), 1, std::move(inputs)));
}

// Of complex numbers by their parts.
void lower_angle(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok() || !ops::kComplex.has(b.dtype(x))) return lower_function(b);
  const ValueId parts =
      b.node("anynpu.BitCast", 1, {x}, {{"to", cast_number(ops::part_of(b.dtype(x)))}});
  if (!b.ok()) return;
  const int64_t last = b.rank(parts) - 1;
  const auto part = [&](int64_t at) {
    return b.node("Squeeze", 13,
                  {b.node("Slice", 13, {parts, b.list({at}), b.list({at + 1}), b.list({last})}),
                   b.list({last})});
  };
  const ValueId im = part(1), re = part(0);
  b.out(0, b.node("anynpu.Atan2", 1, {im, re}));
}

// How often it is derived, and x.
void lower_polygamma(Builder& b) {
  const ValueId x = b.in(1);
  if (b.ok()) b.out(0, b.node("anynpu.Polygamma", 1, {b.cast(b.in(0), b.dtype(x)), x}));
}

void lower_logit(Builder& b) {
  ValueId x = b.in(0);
  const float eps = b.f("eps", -1);
  if (eps >= 0) {
    x = b.node("Min", 13,
               {b.node("Max", 13, {x, number(b, x, eps)}), number(b, x, 1 - double{eps})});
  }
  b.out(0, b.node("Log", 13, {div(b, x, sub(b, number(b, x, 1), x))}));
}

void lower_hypot(Builder& b) {
  const ValueId x = b.in(0), y = b.in(1);
  b.out(0, b.node("Sqrt", 13, {add(b, mul(b, x, x), mul(b, y, y))}));
}

// 0 below zero, 1 above, the second input at zero.
void lower_heaviside(Builder& b) {
  const ValueId x = b.in(0), zero = number(b, x, 0);
  const ValueId step =
      b.node("Where", 16, {b.node("Greater", 13, {x, zero}), number(b, x, 1), zero});
  b.out(0, b.node("Where", 16, {b.node("Equal", 13, {x, zero}), b.in(1), step}));
}

// The outer product of two lists.
void lower_outer(Builder& b) {
  b.out(0, mul(b, b.reshape(b.in(0), {-1, 1}), b.reshape(b.in(1), {1, -1})));
}

void lower_approximate_equal(Builder& b) {
  const ValueId gap = b.node("Abs", 13, {sub(b, b.in(0), b.in(1))});
  b.out(0, b.node("Less", 13, {gap, number(b, gap, b.f("tolerance", 1e-5f))}));
}

// The distance of 1 from the next number of the described type, in the shape of x.
void lower_epsilon(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const DType type = b.op().inputs[0].dtype;
  const double step = type == DType::f16    ? 0.0009765625
                      : type == DType::bf16 ? 0.0078125
                      : type == DType::f64  ? std::numeric_limits<double>::epsilon()
                                            : std::numeric_limits<float>::epsilon();
  b.out(0, b.node("Expand", 13, {number(b, x, step), b.node("Shape", 13, {x})}));
}

// start, stop, how many.
void lower_linear_space(Builder& b) {
  const ValueId start = b.reshape(b.in(0), {1}), stop = b.reshape(b.in(1), {1});
  const auto given = b.in_values(2);
  if (!b.ok() || given.size() != 1 || given[0] < 1 || given[0] > (1 << 20)) {
    return b.refuse(Code::invalid_argument, "expected 1 to {} for the number of elements", 1 << 20);
  }
  std::vector<float> parts;
  for (int64_t i = 0; i < given[0]; ++i) {
    parts.push_back(given[0] == 1 ? 0
                                  : static_cast<float>(static_cast<double>(i) /
                                                       static_cast<double>(given[0] - 1)));
  }
  const ValueId part = b.cast(b.table({given[0]}, parts), b.dtype(start));
  b.out(0, add(b, start, mul(b, sub(b, stop, start), part)));
}

// (sum |x|^p)^(1/p) over axes.
void lower_norm(Builder& b) {
  const ValueId given = b.in(0), x = widened(b, given);
  const int64_t p = b.i("p", 2);
  auto axes = b.axes(b.ints("axes", {}), x);
  if (axes.empty()) axes = all_axes(b, x);
  if (p < 1) return b.refuse(Code::unsupported_feature, "p is {}, expected 1 or more", p);
  const ValueId size = b.node("Abs", 13, {x});
  const ValueId power =
      p == 1 ? size : b.node("Pow", 15, {size, number(b, x, static_cast<double>(p))});
  const ValueId total = sum(b, power, axes, b.flag("keepdim", false));
  const ValueId root =
      p == 1 ? total : b.node("Pow", 15, {total, number(b, x, 1.0 / static_cast<double>(p))});
  if (b.ok()) b.out(0, b.cast(root, b.dtype(given)));
}

// target * (log(target) - x), 0 where there is no target.
void lower_divergence(Builder& b) {
  const ValueId x = b.in(0), target = b.in(1);
  const std::string how = b.s("reduction", "mean");
  if (!b.ok()) return;
  const ValueId zero = number(b, target, 0);
  const ValueId there = b.node("Greater", 13, {target, zero});
  const ValueId safe = b.node("Where", 16, {there, target, number(b, target, 1)});
  const ValueId each =
      b.node("Where", 16, {there, mul(b, target, sub(b, b.node("Log", 13, {safe}), x)), zero});
  if (how == "none") return b.out(0, each);
  const Shape shape = b.shape(x);
  const double count = how == "batchmean" ? static_cast<double>(shape.empty() ? 1 : shape[0])
                       : how == "mean"    ? static_cast<double>(element_count(shape))
                                          : 1;
  b.out(0, div(b, sum(b, each, all_axes(b, each), false), number(b, each, count)));
}

// Logarithms of running sums of exponentials.
void lower_running_log(Builder& b) {
  const ValueId x = b.in(0), axis = b.in_row(1);
  if (!b.has_count(axis, "the axis", 1)) return;
  const ValueId top = b.node("ReduceMax", 18, {x, axis}, {{"keepdims", int64_t{1}}});
  const ValueId total = b.node("CumSum", 14, {b.node("Exp", 13, {sub(b, x, top)}), axis},
                               {{"exclusive", int64_t{b.flag("exclusive", false)}},
                                {"reverse", int64_t{b.flag("reverse", false)}}});
  b.out(0, add(b, b.node("Log", 13, {total}), top));
}

// How many elements lie in each of equal parts from min to max; equal ends mean those of the data.
void lower_histogram(Builder& b) {
  const ValueId given = b.in(0);
  const int64_t bins = b.i_between("bins", 100, 1, 1 << 20);
  double low = b.f("min", 0), high = b.f("max", 0);
  if (!b.ok()) return;
  const ValueId x = b.cast(b.reshape(given, {-1}), DType::f32);
  const ValueId none = b.list({0});
  const bool fixed = low != high;
  const ValueId first = fixed ? b.scalar(DType::f32, low)
                              : b.node("ReduceMin", 18, {x, none}, {{"keepdims", int64_t{0}}});
  const ValueId last = fixed ? b.scalar(DType::f32, high)
                             : b.node("ReduceMax", 18, {x, none}, {{"keepdims", int64_t{0}}});
  const ValueId part =
      div(b, mul(b, sub(b, x, first), b.scalar(DType::f32, static_cast<double>(bins))),
          sub(b, last, first));
  const ValueId place =
      b.node("Min", 13,
             {b.node("Max", 13, {b.node("Floor", 13, {part}), b.scalar(DType::f32, 0)}),
              b.scalar(DType::f32, static_cast<double>(bins - 1))});
  const ValueId inside = b.node(
      "And", 7, {b.node("GreaterOrEqual", 16, {x, first}), b.node("LessOrEqual", 16, {x, last})});
  // NaN lies in no part, and has no place.
  const ValueId safe = b.node("Where", 16, {inside, place, b.scalar(DType::f32, 0)});
  const ValueId counts = b.node(
      "ScatterElements", 18,
      {b.filled(DType::i32, {bins}, 0), b.cast(safe, DType::i64), b.cast(inside, DType::i32)},
      {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
  b.out(0, counts, Type::any);
}

// A mask of bits for lower_dropout_mask, eight to a byte from the lowest on: the shape of what is
// masked, the share that is kept.
void lower_dropout_bits(Builder& b) {
  const auto shape = b.in_values(0);
  const ValueId keep = b.cast(b.reshape(b.in(1), {1}), DType::f32);
  if (!b.ok()) return;
  const int64_t count = element_count(Shape(shape.begin(), shape.end()));
  const int64_t bytes = (count + 127) / 128 * 16;
  NodeAttrs attrs{{"shape", std::vector<int64_t>{bytes, 8}}};
  const ValueId drawn = b.node("RandomUniform", 1, {}, std::move(attrs));
  const ValueId bits = b.cast(b.node("Less", 13, {drawn, keep}), DType::f32);
  const ValueId packed =
      b.node("MatMul", 13, {bits, b.table({8, 1}, {1, 2, 4, 8, 16, 32, 64, 128})});
  b.out(0, b.cast(b.reshape(packed, {bytes}), DType::u8));
}

// matrix, right sides.
void lower_matrix_solve(Builder& b) {
  b.out(0, b.node("anynpu.MatrixSolve", 1, {b.in(1), b.in(0)},
                  {{"adjoint", int64_t{b.flag("adjoint", false)}}}));
}

void lower_log_determinant(Builder& b) {
  const auto made = b.nodes("anynpu.LogDeterminant", 1, {b.in(0)}, 2);
  b.out(0, made[0]);
  b.out(1, made[1]);
}

// Windows over volumes: N, C, D, H, W.
void lower_avg_pool_3d(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (!b.has_rank(x, "x", 5, 5)) return;
  const bool last = b.s("data_format", "NDHWC") == "NDHWC";
  const auto three = [&](const char* name) {
    auto list = b.ints(name);
    if (list.size() == 5)
      list = last ? std::vector<int64_t>(list.begin() + 1, list.end() - 1)
                  : std::vector<int64_t>(list.begin() + 2, list.end());
    if (list.size() == 1) list.assign(3, list[0]);
    return list;
  };
  const auto ends = b.ints("pads", {0, 0, 0, 0, 0, 0});
  if (ends.size() != 6)
    return b.refuse(Code::invalid_argument, "pads has {} numbers, expected 6", ends.size());
  const ValueId y =
      b.node("AveragePool", 11, {x},
             {{"kernel_shape", three("ksize")},
              {"strides", three("strides")},
              {"pads", std::vector<int64_t>{ends[0], ends[2], ends[4], ends[1], ends[3], ends[5]}},
              {"ceil_mode", int64_t{b.flag("ceil_mode", false)}},
              {"count_include_pad", int64_t{b.flag("count_include_pad", true)}}});
  const int64_t divisor = b.i("divisor_override", 0);
  if (divisor != 0) {
    return b.refuse(Code::unsupported_feature, "divisor_override is {}, expected 0", divisor);
  }
  b.out_nchw(0, y);
}

}  // namespace anynpu::singleop
