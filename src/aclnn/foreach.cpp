// SPDX-License-Identifier: Apache-2.0
// Operators on lists of tensors, as optimizers use them: one part for each tensor. A number is a
// scalar for all, one of a list, or a tensor of one element.
#include <cmath>
#include <limits>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// Calls part(i) for each tensor of `list`, in graphs of their own.
template <typename Part>
void for_each_tensor(Recipe& r, Param list, Part&& part) {
  for (size_t i = 0; i < r.length(list); ++i) {
    if (i > 0) r.next_part();
    part(i);
  }
}

// Tensor i of `list` in the type that its part computes in.
Value item(Recipe& r, Param list, size_t i, DType type) { return r.cast(r.in(list, i), type); }

// The number for tensor i: of a scalar, a list of scalars, a list of tensors or a tensor.
Value number_for(Recipe& r, Param param, size_t i, DType type) {
  if (r.is_list(param)) return item(r, param, i, type);
  if (r.is_scalar_list(param)) return r.number(param, i, type);
  if (!r.is_tensor(param)) return r.number(param, type);
  const Value all = r.reshape(r.cast(r.in(param), type), {r.tensor(param).count()});
  const auto at = static_cast<int64_t>(r.tensor(param).count() > 1 ? i : 0);
  return r.reshape(r.slice(all, 0, at, at + 1), {});
}

DType wide_type(Recipe& r, Param list, size_t i) { return computed_in(r.tensor(list, i).dtype); }

void unary(Recipe& r) {
  for_each_tensor(r, 0, [&](size_t i) {
    const DType type = floating(wide_type(r, 0, i));
    r.out(1, i, r.op(r.row().op, {item(r, 0, i, type)}));
  });
}

void unary_any(Recipe& r) {
  for_each_tensor(r, 0, [&](size_t i) { r.out(1, i, r.op(r.row().op, {r.in(0, i)})); });
}

// How numbers are rounded: 1 to the nearest, of two to the even one, 2 down, 3 up, 4 to the
// nearest, of two to the one further from 0, 5 towards 0, 7 the part behind the point.
void round_off(Recipe& r) {
  const int64_t mode = r.scalar("roundMode").integer();
  for_each_tensor(r, "x", [&](size_t i) {
    const Value x = item(r, "x", i, wide_type(r, "x", i));
    const Value whole = r.op("Trunc", {x});
    switch (mode) {
      case 1:
        return r.out("out", i, r.op("Round", {x}));
      case 2:
        return r.out("out", i, r.op("Floor", {x}));
      case 3:
        return r.out("out", i, r.op("Ceil", {x}));
      case 4: {
        const DType type = r.dtype(x);
        const Value half = r.op("Mul", {r.op("Sign", {x}), r.constant(type, 0.5)});
        return r.out("out", i, r.op("Trunc", {r.op("Add", {x, half})}));
      }
      case 5:
        return r.out("out", i, whole);
      case 7:
        return r.out("out", i, r.op("Sub", {x, whole}));
      default:
        refuse("roundMode is {}; expected 1, 2, 3, 4, 5 or 7", mode);
    }
  });
}

// As round_off, with the mode in a tensor that the run reads. Another mode gives NaN.
void round_off_by_tensor(Recipe& r) {
  for_each_tensor(r, "x", [&](size_t i) {
    const Value x = item(r, "x", i, wide_type(r, "x", i));
    const DType type = r.dtype(x);
    const Value mode = r.reshape(r.cast(r.in("roundMode"), DType::i64), {});
    const Value whole = r.op("Trunc", {x});
    const Value half = r.op("Mul", {r.op("Sign", {x}), r.constant(type, 0.5)});
    const std::pair<double, Value> modes[] = {{1, r.op("Round", {x})},
                                              {2, r.op("Floor", {x})},
                                              {3, r.op("Ceil", {x})},
                                              {4, r.op("Trunc", {r.op("Add", {x, half})})},
                                              {5, whole},
                                              {7, r.op("Sub", {x, whole})}};
    Value y = r.constant(type, std::numeric_limits<double>::quiet_NaN());
    for (const auto& [number, rounded] : modes)
      y = r.op("Where", {r.op("Equal", {mode, r.constant(DType::i64, number)}), rounded, y});
    r.out("out", i, r.expand(y, r.shape(x)));
  });
}

void copy(Recipe& r) {
  for_each_tensor(r, 0, [&](size_t i) { r.out(1, i, r.in(0, i)); });
}

void zero(Recipe& r) {
  for_each_tensor(r, 0, [&](size_t i) {
    const TensorView& x = r.tensor(0, i);
    r.out(0, i, r.filled(x.dtype, x.shape.shape(), 0));
  });
}

// x op number, or x1 op x2.
void binary(Recipe& r) {
  for_each_tensor(r, 0, [&](size_t i) {
    const DType type = wide_type(r, 0, i);
    r.out("out", i, r.op(r.row().op, {item(r, 0, i, type), number_for(r, 1, i, type)}));
  });
}

void reversed_power(Recipe& r) {
  for_each_tensor(r, "x", [&](size_t i) {
    const DType type = wide_type(r, "x", i);
    r.out("out", i, r.op("Pow", {r.number("scalar", type), item(r, "x", i, type)}));
  });
}

// x1 + alpha * x2, or minus.
void add_list(Recipe& r) {
  for_each_tensor(r, "x1", [&](size_t i) {
    const DType type = wide_type(r, "x1", i);
    const Value scaled = r.op("Mul", {item(r, "x2", i, type), number_for(r, "alpha", i, type)});
    r.out("out", i, r.op(r.row().op, {item(r, "x1", i, type), scaled}));
  });
}

// x1 + number * (x2 op x3).
void add_combined(Recipe& r) {
  for_each_tensor(r, "x1", [&](size_t i) {
    const DType type = wide_type(r, "x1", i);
    const Value both = r.op(r.row().op, {item(r, "x2", i, type), item(r, "x3", i, type)});
    const Value scaled = r.op("Mul", {both, number_for(r, 3, i, type)});
    r.out("out", i, r.op("Add", {item(r, "x1", i, type), scaled}));
  });
}

// x1 + weight * (x2 - x1).
void lerp(Recipe& r) {
  for_each_tensor(r, "x1", [&](size_t i) {
    const DType type = wide_type(r, "x1", i);
    const Value a = item(r, "x1", i, type), b = item(r, "x2", i, type);
    const Value moved = r.op("Mul", {number_for(r, "weight", i, type), r.op("Sub", {b, a})});
    r.out("out", i, r.op("Add", {a, moved}));
  });
}

void norm(Recipe& r) {
  const double p = r.given("scalar") ? r.scalar("scalar").real() : 2;
  for_each_tensor(r, "x", [&](size_t i) {
    const DType type = wide_type(r, "x", i);
    const Value x = r.reshape(item(r, "x", i, type), {r.tensor("x", i).count()});
    const Value axes = r.constant({0});
    const auto sum = [&](Value v) { return r.op("ReduceSum", {v, axes}, {{"keepdims", 0}}); };
    Value y;
    if (p == 2) {
      y = r.op("Sqrt", {sum(r.op("Mul", {x, x}))});
    } else if (p == 1) {
      y = sum(r.op("Abs", {x}));
    } else if (p == std::numeric_limits<double>::infinity()) {
      y = r.op("ReduceMax", {r.op("Abs", {x}), axes}, {{"keepdims", 0}});
    } else {
      y = r.op("Pow", {sum(r.op("Pow", {r.op("Abs", {x}), r.constant(type, p)})),
                       r.constant(type, 1 / p)});
    }
    r.out("out", i, r.reshape(y, r.tensor("out", i).shape.shape()));
  });
}

// Gradients times invScale, in place; foundInf becomes 1 when any of them is not finite.
void unscale(Recipe& r) {
  for_each_tensor(r, "scaledGrads", [&](size_t i) {
    const DType type = wide_type(r, "scaledGrads", i);
    const Value grad = item(r, "scaledGrads", i, type);
    const Value scale = r.reshape(r.cast(r.in("invScale"), type), {});
    const Value wrong = r.op("Or", {r.op("IsInf", {grad}), r.op("IsNaN", {grad})});
    const int64_t count = r.tensor("scaledGrads", i).count();
    r.out("scaledGrads", i, r.op("Mul", {grad, scale}));
    if (count == 0) return;
    const Value any =
        r.op("ReduceMax", {r.cast(r.reshape(wrong, {count}), DType::f32), r.constant({0})},
             {{"keepdims", 0}});
    const Value found = r.cast(r.in("foundInf"), DType::f32);
    r.out("foundInf", r.reshape(r.op("Max", {found, any}), r.shape("foundInf")));
  });
}

const Row kRows[] = {
    {"aclnnForeachAbs", unary_any, "Abs"},
    {"aclnnForeachNeg", unary_any, "Neg"},
    {"aclnnForeachSign", unary_any, "Sign"},
    {"aclnnForeachAcos", unary, "Acos"},
    {"aclnnForeachAsin", unary, "Asin"},
    {"aclnnForeachAtan", unary, "Atan"},
    {"aclnnForeachCos", unary, "Cos"},
    {"aclnnForeachCosh", unary, "Cosh"},
    {"aclnnForeachErf", unary, "Erf"},
    {"aclnnForeachErfc", unary, "Erfc"},
    {"aclnnForeachExp", unary, "Exp"},
    {"aclnnForeachExpm1", unary, "Expm1"},
    {"aclnnForeachLog", unary, "Log"},
    {"aclnnForeachLog10", unary, "Log10"},
    {"aclnnForeachLog1p", unary, "Log1p"},
    {"aclnnForeachLog2", unary, "Log2"},
    {"aclnnForeachRoundOffNumber", round_off_by_tensor},
    {"aclnnForeachRoundOffNumberV2", round_off},
    {"aclnnForeachReciprocal", unary, "Reciprocal"},
    {"aclnnForeachSigmoid", unary, "Sigmoid"},
    {"aclnnForeachSin", unary, "Sin"},
    {"aclnnForeachSinh", unary, "Sinh"},
    {"aclnnForeachSqrt", unary, "Sqrt"},
    {"aclnnForeachTan", unary, "Tan"},
    {"aclnnForeachTanh", unary, "Tanh"},
    {"aclnnForeachCopy", copy},
    {"aclnnForeachZeroInplace", zero},
    {"aclnnForeachAddScalar", binary, "Add"},
    {"aclnnForeachAddScalarV2", binary, "Add"},
    {"aclnnForeachAddScalarList", binary, "Add"},
    {"aclnnForeachSubScalar", binary, "Sub"},
    {"aclnnForeachSubScalarV2", binary, "Sub"},
    {"aclnnForeachSubScalarList", binary, "Sub"},
    {"aclnnForeachMulScalar", binary, "Mul"},
    {"aclnnForeachMulScalarV2", binary, "Mul"},
    {"aclnnForeachMulScalarList", binary, "Mul"},
    {"aclnnForeachMulList", binary, "Mul"},
    {"aclnnForeachDivScalar", binary, "Div"},
    {"aclnnForeachDivScalarV2", binary, "Div"},
    {"aclnnForeachDivScalarList", binary, "Div"},
    {"aclnnForeachDivList", binary, "Div"},
    {"aclnnForeachMaximumScalar", binary, "Max"},
    {"aclnnForeachMaximumScalarV2", binary, "Max"},
    {"aclnnForeachMaximumScalarList", binary, "Max"},
    {"aclnnForeachMaximumList", binary, "Max"},
    {"aclnnForeachMinimumScalar", binary, "Min"},
    {"aclnnForeachMinimumScalarV2", binary, "Min"},
    {"aclnnForeachMinimumScalarList", binary, "Min"},
    {"aclnnForeachMinimumList", binary, "Min"},
    {"aclnnForeachPowScalar", binary, "Pow"},
    {"aclnnForeachPowScalarV2", binary, "Pow"},
    {"aclnnForeachPowScalarList", binary, "Pow"},
    {"aclnnForeachPowList", binary, "Pow"},
    {"aclnnForeachPowScalarAndTensor", reversed_power},
    {"aclnnForeachAddList", add_list, "Add"},
    {"aclnnForeachAddListV2", add_list, "Add"},
    {"aclnnForeachSubList", add_list, "Sub"},
    {"aclnnForeachSubListV2", add_list, "Sub"},
    {"aclnnForeachAddcmulScalar", add_combined, "Mul"},
    {"aclnnForeachAddcmulScalarV2", add_combined, "Mul"},
    {"aclnnForeachAddcmulScalarList", add_combined, "Mul"},
    {"aclnnForeachAddcmulList", add_combined, "Mul"},
    {"aclnnForeachAddcdivScalar", add_combined, "Div"},
    {"aclnnForeachAddcdivScalarV2", add_combined, "Div"},
    {"aclnnForeachAddcdivScalarList", add_combined, "Div"},
    {"aclnnForeachAddcdivList", add_combined, "Div"},
    {"aclnnForeachLerpScalar", lerp},
    {"aclnnForeachLerpList", lerp},
    {"aclnnForeachNorm", norm},
    {"aclnnForeachNonFiniteCheckAndUnscale", unscale},
};

}  // namespace

std::span<const Row> foreach_rows() { return kRows; }

}  // namespace anynpu::aclnn
