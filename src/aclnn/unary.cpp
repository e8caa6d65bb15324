// SPDX-License-Identifier: Apache-2.0
// Functions of one element.
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// Numbers of any kind: the type stays.
void same_type(Recipe& r) {
  const DType type = r.dtype(0) == DType::boolean ? DType::i32 : r.dtype(0);
  r.out(r.result(), r.op(r.row().op, {r.cast(r.in(0), type)}));
}

// Integers are what they are.
void rounding(Recipe& r) {
  const Value x = r.in(0);
  r.out(r.result(), is_floating(r.dtype(x)) ? r.op(r.row().op, {x}) : x);
}

// Integers become floating point first.
Value real_input(Recipe& r) {
  const DType type = floating(r.dtype(0));
  return r.cast(r.in(0), type);
}

void real(Recipe& r) { r.out(r.result(), r.op(r.row().op, {real_input(r)})); }

void reciprocal_root(Recipe& r) {
  // The root of a 16-bit float is not rounded before the division.
  const Value x = r.cast(r.in(0), computed_in(floating(r.dtype(0))));
  r.out(r.result(), r.op("Reciprocal", {r.op("Sqrt", {x})}));
}

// number 1: what is left of it.
void truncate(Recipe& r) {
  const Value x = r.in(0);
  if (!is_floating(r.dtype(x))) return r.out(r.result(), x);
  const Value whole = r.op("Trunc", {x});
  r.out(r.result(), r.row().number ? r.op("Sub", {x, whole}) : whole);
}

// To `decimals` places behind the point.
void round_decimals(Recipe& r) {
  const Value x = r.in(0);
  if (!is_floating(r.dtype(x))) return r.out(r.result(), x);
  const DType type = computed_in(r.dtype(x));
  const auto places = static_cast<double>(r.integer("decimals"));
  const Value scale = r.constant(type, std::pow(10.0, std::fabs(places)));
  const bool grows = places >= 0;
  const Value moved = r.op(grows ? "Mul" : "Div", {r.cast(x, type), scale});
  r.out(r.result(), r.op(grows ? "Div" : "Mul", {r.op("Round", {moved}), scale}));
}

void nan_to_num(Recipe& r) {
  const Value x = r.in(0);
  const DType type = r.dtype(x);
  if (!is_floating(type)) return r.out(r.result(), x);
  Value y = r.op("Where", {r.op("IsNaN", {x}), r.number("nan", type), x});
  y = r.op("Where", {r.op("IsInf", {x}, {{"detect_negative", 0}}), r.number("posinf", type), y});
  y = r.op("Where", {r.op("IsInf", {x}, {{"detect_positive", 0}}), r.number("neginf", type), y});
  r.out(r.result(), y);
}

const Row kRows[] = {
    {"aclnnAbs", same_type, "Abs", true},
    {"aclnnNeg", same_type, "Neg", true},
    {"aclnnInplaceNeg", same_type, "Neg", true},
    {"aclnnSign", same_type, "Sign", true},
    {"aclnnCeil", rounding, "Ceil", true},
    {"aclnnInplaceCeil", rounding, "Ceil", true},
    {"aclnnFloor", rounding, "Floor", true},
    {"aclnnInplaceFloor", rounding, "Floor", true},
    {"aclnnRound", rounding, "Round", true},
    {"aclnnInplaceRound", rounding, "Round", true},
    {"aclnnTrunc", truncate, "", true},
    {"aclnnInplaceTrunc", truncate, "", true},
    {"aclnnFrac", truncate, "", true, 1},
    {"aclnnInplaceFrac", truncate, "", true, 1},
    {"aclnnNanToNum", nan_to_num, "", true},
    {"aclnnInplaceNanToNum", nan_to_num, "", true},
    {"aclnnAcos", real, "Acos", true},
    {"aclnnInplaceAcos", real, "Acos", true},
    {"aclnnAcosh", real, "Acosh", true},
    {"aclnnInplaceAcosh", real, "Acosh", true},
    {"aclnnAsin", real, "Asin", true},
    {"aclnnInplaceAsin", real, "Asin", true},
    {"aclnnAsinh", real, "Asinh", true},
    {"aclnnInplaceAsinh", real, "Asinh", true},
    {"aclnnAtan", real, "Atan", true},
    {"aclnnInplaceAtan", real, "Atan", true},
    {"aclnnAtanh", real, "Atanh", true},
    {"aclnnInplaceAtanh", real, "Atanh", true},
    {"aclnnCos", real, "Cos", true},
    {"aclnnInplaceCos", real, "Cos", true},
    {"aclnnCosh", real, "Cosh", true},
    {"aclnnInplaceCosh", real, "Cosh", true},
    {"aclnnErf", real, "Erf", true},
    {"aclnnInplaceErf", real, "Erf", true},
    {"aclnnExp", real, "Exp", true},
    {"aclnnInplaceExp", real, "Exp", true},
    {"aclnnLog", real, "Log", true},
    {"aclnnInplaceLog", real, "Log", true},
    {"aclnnExp2", real, "Exp2", true},
    {"aclnnInplaceExp2", real, "Exp2", true},
    {"aclnnExpm1", real, "Expm1", true},
    {"aclnnInplaceExpm1", real, "Expm1", true},
    {"aclnnLog10", real, "Log10", true},
    {"aclnnInplaceLog10", real, "Log10", true},
    {"aclnnLog1p", real, "Log1p", true},
    {"aclnnInplaceLog1p", real, "Log1p", true},
    {"aclnnLog2", real, "Log2", true},
    {"aclnnInplaceLog2", real, "Log2", true},
    {"aclnnErfc", real, "Erfc", true},
    {"aclnnInplaceErfc", real, "Erfc", true},
    {"aclnnErfinv", real, "Erfinv", true},
    {"aclnnInplaceErfinv", real, "Erfinv", true},
    {"aclnnSinc", real, "Sinc", true},
    {"aclnnInplaceSinc", real, "Sinc", true},
    {"aclnnLgamma", real, "Lgamma", true},
    {"aclnnDigamma", real, "Digamma", true},
    {"aclnnSignbit", real, "Signbit", true},
    {"aclnnRoundDecimals", round_decimals, "", true},
    {"aclnnInplaceRoundDecimals", round_decimals, "", true},
    {"aclnnReciprocal", real, "Reciprocal", true},
    {"aclnnInplaceReciprocal", real, "Reciprocal", true},
    {"aclnnRsqrt", reciprocal_root, "", true},
    {"aclnnInplaceRsqrt", reciprocal_root, "", true},
    {"aclnnSin", real, "Sin", true},
    {"aclnnInplaceSin", real, "Sin", true},
    {"aclnnSinh", real, "Sinh", true},
    {"aclnnInplaceSinh", real, "Sinh", true},
    {"aclnnSqrt", real, "Sqrt", true},
    {"aclnnInplaceSqrt", real, "Sqrt", true},
    {"aclnnTan", real, "Tan", true},
    {"aclnnInplaceTan", real, "Tan", true},
    {"aclnnTanh", real, "Tanh", true},
    {"aclnnInplaceTanh", real, "Tanh", true},
    {"aclnnSigmoid", real, "Sigmoid", true},
    {"aclnnInplaceSigmoid", real, "Sigmoid", true},
};

}  // namespace

std::span<const Row> unary_rows() { return kRows; }

}  // namespace anynpu::aclnn
