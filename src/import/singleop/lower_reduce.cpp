// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/lower.h"
#include "import/singleop/table.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// Axes from the attribute of a D form, or from the second input. Frameworks name axes of a tensor
// that has none.
ValueId reduce_axes(Builder& b, const char* attribute) {
  const bool scalar = b.ok() && b.rank(b.in(0)) == 0;
  if (scalar && b.has(1)) b.leave(1);
  if (scalar) return kNoValue;
  if (b.has(1) && !b.type().ends_with("D")) return b.in_row(1);
  const auto given = b.axes(b.ints(attribute, {}), b.in(0));
  return given.empty() ? kNoValue : b.list(given);
}

ValueId reduce(Builder& b, const char* name, ValueId x, ValueId axes, bool keep) {
  const int64_t opset = std::string_view(name) == "ReduceSum" ? 13 : 18;
  return b.node(name, opset, {x, axes}, {{"keepdims", int64_t{keep}}});
}

}  // namespace

void lower_reduce(Builder& b) {
  const ValueId axes = reduce_axes(b, "axes");
  const std::string name(find_vendor_op(b.type())->becomes);
  b.out(0, reduce(b, name.c_str(), b.in(0), axes, b.flag("keep_dims", false)));
}

// All and any of booleans.
void lower_reduce_flags(Builder& b) {
  const ValueId axes = reduce_axes(b, "axes");
  if (!b.has_type(b.in(0), "x", {DType::boolean, DType::i8, DType::u8})) return;
  const ValueId x = b.cast(b.cast(b.in(0), DType::boolean), DType::i32);
  const bool all = b.type().starts_with("ReduceAll");
  const ValueId y = reduce(b, all ? "ReduceMin" : "ReduceMax", x, axes, b.flag("keep_dims", false));
  b.out(0, b.cast(y, DType::boolean));
}

// Caffe's reduction of everything from an axis on.
void lower_reduction(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const std::string operation = b.s("operation", "SUM");
  const int64_t first = b.axis(b.i("axis", 0), x);
  const char* name = operation == "SUM"     ? "ReduceSum"
                     : operation == "MEAN"  ? "ReduceMean"
                     : operation == "ASUM"  ? "ReduceL1"
                     : operation == "SUMSQ" ? "ReduceSumSquare"
                                            : nullptr;
  if (!name) {
    return b.refuse(Code::invalid_argument, "operation is '{}', expected SUM, MEAN, ASUM or SUMSQ",
                    operation);
  }
  std::vector<int64_t> axes;
  for (int64_t a = first; a < b.rank(x); ++a) axes.push_back(a);
  ValueId y = reduce(b, name, x, b.list(axes), false);
  const float scale = b.f("coeff", 1);
  if (scale != 1) y = b.node("Mul", 13, {y, b.scalar(b.dtype(y), scale)});
  b.out(0, y);
}

void lower_cumsum(Builder& b) {
  const bool attribute = b.type() == "CumsumD";
  const ValueId axis = attribute ? b.list({b.axis(b.i("axis"), b.in(0))}) : b.in_row(1);
  if (!b.has_count(axis, "the axis", 1)) return;
  b.out(0, b.node("CumSum", 14, {b.in(0), axis},
                  {{"exclusive", int64_t{b.flag("exclusive", false)}},
                   {"reverse", int64_t{b.flag("reverse", false)}}}));
}

// Indices are int32 on the card unless the description says otherwise.
void lower_arg(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const bool attribute = b.type().ends_with("D") || !b.has(1);
  const int64_t dimension = attribute ? b.i("dimension") : b.in_value(1);
  const bool max = b.type().starts_with("ArgMax");
  b.out(0,
        b.node(max ? "ArgMax" : "ArgMin", 13, {x},
               {{"axis", b.axis(dimension, x)}, {"keepdims", int64_t{b.flag("keep_dims", false)}}}),
        Type::any);
}

void lower_arg_with_value(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const bool max = b.type().starts_with("ArgMax");
  const int64_t axis = b.axis(b.i("dimension"), x), keep = b.flag("keep_dims", false);
  b.out(0, b.node(max ? "ArgMax" : "ArgMin", 13, {x}, {{"axis", axis}, {"keepdims", keep}}),
        Type::any);
  b.out(1, b.node(max ? "ReduceMax" : "ReduceMin", 18, {x, b.list({axis})}, {{"keepdims", keep}}));
}

void lower_top_k(Builder& b) {
  const ValueId x = b.in(0);
  const bool attribute = b.type() == "TopKD";
  if (attribute) b.leave(1);  // a ramp that the card's kernel needs
  const ValueId k = attribute ? b.list({b.i("k")}) : b.in_row(1);
  if (!b.has_count(k, "k", 1)) return;
  const auto made = b.nodes("TopK", 11, {x, k}, 2,
                            {{"axis", b.i("dim", -1)},
                             {"largest", int64_t{b.flag("largest", true)}},
                             {"sorted", int64_t{b.flag("sorted", true)}}});
  b.out(0, made[0]);
  b.out(1, made[1], Type::any);
}

void lower_l2_normalize(Builder& b) {
  const ValueId x = b.in(0);
  const auto axes = b.axes(b.ints("axis", {}), x);
  const ValueId sum = b.node("ReduceSumSquare", 18, {x, axes.empty() ? kNoValue : b.list(axes)},
                             {{"keepdims", int64_t{1}}});
  const ValueId floor = b.node("Max", 13, {sum, b.scalar(b.dtype(x), b.f("eps", 1e-4f))});
  b.out(0, b.node("Div", 13, {x, b.node("Sqrt", 13, {floor})}));
}

// The sum of powers of absolute values; the root follows in LpNormUpdateV2. Frameworks write
// infinite powers as the largest and the smallest int32.
void lower_lp_reduce(Builder& b) {
  constexpr float kLargest = 2147483647.0f;
  const float p = b.f("p", 2);
  const ValueId size = b.node("Abs", 13, {b.in(0)});
  const ValueId axes = reduce_axes(b, "axes");
  const bool keep = b.flag("keepdim", false);
  if (p >= kLargest || p <= -kLargest) {
    return b.out(0, reduce(b, p > 0 ? "ReduceMax" : "ReduceMin", size, axes, keep));
  }
  const ValueId power = p == 0   ? b.node("Sign", 13, {size})
                        : p == 1 ? size
                                 : b.node("Pow", 15, {size, b.scalar(b.dtype(size), p)});
  b.out(0, reduce(b, "ReduceSum", power, axes, keep));
}

void lower_lp_update(Builder& b) {
  constexpr float kLargest = 2147483647.0f;
  const float p = b.f("p", 2);
  const ValueId x = b.in(0);
  const bool whole = p == 0 || p == 1 || p >= kLargest || p <= -kLargest;
  b.out(0,
        whole ? b.node("Identity", 13, {x}) : b.node("Pow", 15, {x, b.scalar(b.dtype(x), 1 / p)}));
}

void lower_l2_loss(Builder& b) {
  const ValueId sum = b.node("ReduceSumSquare", 18, {b.in(0)}, {{"keepdims", int64_t{0}}});
  b.out(0, b.node("Mul", 13, {sum, b.scalar(b.dtype(sum), 0.5)}));
}

}  // namespace anynpu::singleop
