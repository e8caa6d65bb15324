// SPDX-License-Identifier: Apache-2.0
// Arithmetic of tensors and numbers, element by element.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// self + alpha * other, or minus.
void add(Recipe& r) {
  const bool plain = !r.given("alpha") || r.equals("alpha", 1);
  DType type = common_type(r, 0, 1);
  if (!plain || !r.is_tensor(1) || type == DType::boolean) type = computed_in(type);
  Value other = operand(r, 1, type);
  if (!plain) other = r.op("Mul", {other, r.number("alpha", type)});
  r.out(r.result(), r.op(r.row().op, {operand(r, 0, type), other}));
}

// other - alpha * self.
void reversed_sub(Recipe& r) {
  const bool plain = r.equals("alpha", 1);
  const DType type = computed_in(common_type(r, 0, 1));
  Value self = operand(r, 0, type);
  if (!plain) self = r.op("Mul", {self, r.number("alpha", type)});
  r.out("out", r.op("Sub", {operand(r, 1, type), self}));
}

void binary(Recipe& r) {
  const DType type = arithmetic_type(r, 0, 1);
  r.out(r.result(), r.op(r.row().op, {operand(r, 0, type), operand(r, 1, type)}));
}

// a - b * floor(a / b), with the sign of b.
Value remainder(Recipe& r, Value a, Value b) {
  if (!is_floating(r.dtype(a))) return r.op("Mod", {a, b}, {{"fmod", 0}});
  const Value rest = r.op("Mod", {a, b}, {{"fmod", 1}}), zero = r.constant(r.dtype(a), 0);
  const Value differs = r.op("Xor", {r.op("Less", {rest, zero}), r.op("Less", {b, zero})});
  const Value moves = r.op("And", {differs, r.op("Not", {r.op("Equal", {rest, zero})})});
  return r.op("Where", {moves, r.op("Add", {rest, b}), rest});
}

Value floor_quotient(Recipe& r, Value a, Value b) {
  if (is_floating(r.dtype(a))) return r.op("Floor", {r.op("Div", {a, b})});
  return r.op("FloorDiv", {a, b});  // a - remainder may be out of range
}

// mode 0: exact quotient, 1: towards zero, 2: down.
void divide_by_mode(Recipe& r, int64_t mode) {
  DType type = arithmetic_type(r, 0, 1);
  if (mode < 0 || mode > 2) refuse("mode is {}; expected 0 (true), 1 (trunc) or 2 (floor)", mode);
  // A quotient that is rounded to 16 bits first may be the next whole number.
  type = mode == 0 ? floating(type) : computed_in(type);
  const Value a = operand(r, 0, type), b = operand(r, 1, type);
  if (mode == 2) return r.out(r.result(), floor_quotient(r, a, b));
  const Value quotient = r.op("Div", {a, b});
  r.out(r.result(), mode == 1 && is_floating(type) ? r.op("Trunc", {quotient}) : quotient);
}

void divide(Recipe& r) { divide_by_mode(r, r.row().number); }
void divide_mode(Recipe& r) { divide_by_mode(r, r.integer("mode")); }

// In floating point, whatever the operands are.
void real_binary(Recipe& r) {
  const DType type = floating(arithmetic_type(r, 0, 1));
  r.out(r.result(), r.op(r.row().op, {operand(r, 0, type), operand(r, 1, type)}));
}

// |self - other| <= atol + rtol * |other|; infinities equal themselves.
void is_close(Recipe& r) {
  const DType type = computed_in(promote(r.dtype("self"), r.dtype("other")));
  const DType real = floating(type);
  const Value a = operand(r, 0, real), b = operand(r, 1, real);
  const Value off = r.op("Abs", {r.op("Sub", {a, b})});
  const Value room = r.op(
      "Add", {r.number("atol", real), r.op("Mul", {r.number("rtol", real), r.op("Abs", {b})})});
  const Value finite = r.op("Not", {r.op("IsInf", {off})});
  Value close = r.op("And", {r.op("LessOrEqual", {off, room}), finite});
  close = r.op("Or", {close, r.op("Equal", {a, b})});
  if (r.flag("equal_nan")) {
    close = r.op("Or", {close, r.op("And", {r.op("IsNaN", {a}), r.op("IsNaN", {b})})});
  }
  r.out("out", close);
}

// number 1: the rest has the sign of the dividend.
void rest(Recipe& r) {
  const DType type = arithmetic_type(r, 0, 1);
  const Value a = operand(r, 0, type), b = operand(r, 1, type);
  r.out(r.result(), r.row().number ? r.op("Mod", {a, b}, {{"fmod", 1}}) : remainder(r, a, b));
}

void power(Recipe& r) {
  const DType type = arithmetic_type(r, 0, 1);
  const Value base = operand(r, 0, type);
  const auto write = [&](Value y) { r.out(r.is_tensor(0) ? r.result() : Param("out"), y); };
  if (!r.is_tensor(1) && r.equals(1, 2)) return write(r.op("Mul", {base, base}));
  if (!r.is_tensor(1) && r.equals(1, 0.5)) return write(r.op("Sqrt", {base}));
  write(r.op("Pow", {base, operand(r, 1, type)}));
}

// self + value * (tensor1 op tensor2).
void add_combined(Recipe& r) {
  const DType type =
      computed_in(promote(r.dtype(0), promote(r.dtype("tensor1"), r.dtype("tensor2"))));
  Value both = r.op(r.row().op, {operand(r, 1, type), operand(r, 2, type)});
  if (!r.equals("value", 1)) both = r.op("Mul", {both, r.number("value", type)});
  r.out(r.result(), r.op("Add", {operand(r, 0, type), both}));
}

// self + weight * (end - self); from a weight of 1/2 on, as torch does, from the other end.
void lerp(Recipe& r) {
  const DType type = computed_in(promote(r.dtype(0), r.dtype(1)));
  const Value self = operand(r, 0, type), end = operand(r, 1, type);
  const Value weight = operand(r, 2, type);
  const Value one = r.constant(type, 1), half = r.constant(type, 0.5);
  const Value span = r.op("Sub", {end, self});
  const Value low = r.op("Add", {self, r.op("Mul", {weight, span})});
  const Value high = r.op("Sub", {end, r.op("Mul", {span, r.op("Sub", {one, weight})})});
  const Value near_start = r.op("Less", {r.op("Abs", {weight}), half});
  r.out(r.result(), r.op("Where", {near_start, low, high}));
}

// Bounds are parameters 1 and 2, tensors or numbers, null where there is none; number 1: the only
// bound is the upper one.
void clamp(Recipe& r) {
  const bool both = r.row().number == 2;
  const auto bound = [&](int place) { return r.given(place); };
  DType type = r.dtype(0);
  for (int place : {1, 2}) {
    if ((place == 1 || both) && bound(place)) type = promote(type, common_type(r, 0, place));
  }
  if (!both && r.row().number == 1) {
    return r.out(r.result(), r.op("Min", {operand(r, 0, type), operand(r, 1, type)}));
  }
  Value y = operand(r, 0, type);
  if (bound(1)) y = r.op("Max", {y, operand(r, 1, type)});
  if (both && bound(2)) y = r.op("Min", {y, operand(r, 2, type)});
  r.out(r.result(), y);
}

void where(Recipe& r) {
  const DType type = promote(r.dtype("self"), r.dtype("other"));
  r.out("out", r.op("Where", {r.cast(r.in("condition"), DType::boolean), r.cast(r.in("self"), type),
                              r.cast(r.in("other"), type)}));
}

void masked_fill(Recipe& r) {
  const DType type = r.dtype(0);
  const Value filled = r.is_tensor("value") ? r.cast(r.in("value"), type) : r.number("value", type);
  r.out(0, r.op("Where", {r.cast(r.in("mask"), DType::boolean), filled, r.in(0)}));
}

const Row kRows[] = {
    {"aclnnAdd", add, "Add", true},
    {"aclnnInplaceAdd", add, "Add", true},
    {"aclnnAdds", add, "Add", true},
    {"aclnnInplaceAdds", add, "Add", true},
    {"aclnnAddV3", add, "Add", true},
    {"aclnnSub", add, "Sub", true},
    {"aclnnInplaceSub", add, "Sub", true},
    {"aclnnSubs", add, "Sub", true},
    {"aclnnInplaceSubs", add, "Sub", true},
    {"aclnnRsub", reversed_sub, "", true},
    {"aclnnRsubs", reversed_sub, "", true},
    {"aclnnMul", binary, "Mul", true},
    {"aclnnInplaceMul", binary, "Mul", true},
    {"aclnnMuls", binary, "Mul", true},
    {"aclnnInplaceMuls", binary, "Mul", true},
    {"aclnnGcd", binary, "Gcd", true},
    {"aclnnMaximum", binary, "Max", true},
    {"aclnnMinimum", binary, "Min", true},
    {"aclnnDiv", divide, "", true, 0},
    {"aclnnInplaceDiv", divide, "", true, 0},
    {"aclnnDivs", divide, "", true, 0},
    {"aclnnInplaceDivs", divide, "", true, 0},
    {"aclnnFloorDivide", divide, "", true, 2},
    {"aclnnInplaceFloorDivide", divide, "", true, 2},
    {"aclnnFloorDivides", divide, "", true, 2},
    {"aclnnInplaceFloorDivides", divide, "", true, 2},
    {"aclnnDivMod", divide_mode, "", true},
    {"aclnnInplaceDivMod", divide_mode, "", true},
    {"aclnnDivMods", divide_mode, "", true},
    {"aclnnInplaceDivMods", divide_mode, "", true},
    {"aclnnFmodTensor", rest, "", true, 1},
    {"aclnnInplaceFmodTensor", rest, "", true, 1},
    {"aclnnFmodScalar", rest, "", true, 1},
    {"aclnnInplaceFmodScalar", rest, "", true, 1},
    {"aclnnRemainderTensorTensor", rest, "", true},
    {"aclnnInplaceRemainderTensorTensor", rest, "", true},
    {"aclnnRemainderTensorScalar", rest, "", true},
    {"aclnnInplaceRemainderTensorScalar", rest, "", true},
    {"aclnnRemainderScalarTensor", rest, "", true},
    {"aclnnPowTensorScalar", power, "", true},
    {"aclnnInplacePowTensorScalar", power, "", true},
    {"aclnnPowTensorTensor", power, "", true},
    {"aclnnInplacePowTensorTensor", power, "", true},
    {"aclnnPowScalarTensor", power, "", true},
    {"aclnnAddcmul", add_combined, "Mul", true},
    {"aclnnInplaceAddcmul", add_combined, "Mul", true},
    {"aclnnAddcdiv", add_combined, "Div", true},
    {"aclnnInplaceAddcdiv", add_combined, "Div", true},
    {"aclnnLerp", lerp, "", true},
    {"aclnnInplaceLerp", lerp, "", true},
    {"aclnnLerps", lerp, "", true},
    {"aclnnInplaceLerps", lerp, "", true},
    {"aclnnClamp", clamp, "", true, 2},
    {"aclnnHardtanh", clamp, "", true, 2},
    {"aclnnInplaceHardtanh", clamp, "", true, 2},
    {"aclnnClampTensor", clamp, "", true, 2},
    {"aclnnClampMin", clamp, "", true, 0},
    {"aclnnClampMinTensor", clamp, "", true, 0},
    {"aclnnInplaceClampMinTensor", clamp, "", true, 0},
    {"aclnnClampMax", clamp, "", true, 1},
    {"aclnnInplaceClampMax", clamp, "", true, 1},
    {"aclnnClampMaxTensor", clamp, "", true, 1},
    {"aclnnInplaceClampMaxTensor", clamp, "", true, 1},
    {"aclnnAtan2", real_binary, "Atan2", true},
    {"aclnnInplaceAtan2", real_binary, "Atan2", true},
    {"aclnnLogAddExp", real_binary, "LogAddExp", true},
    {"aclnnLogAddExp2", real_binary, "LogAddExp2", true},
    {"aclnnXLogYTensor", real_binary, "Xlogy", true},
    {"aclnnInplaceXLogYTensor", real_binary, "Xlogy", true},
    {"aclnnInplaceXLogYScalarOther", real_binary, "Xlogy", true},
    {"aclnnXLogYScalarOther", real_binary, "Xlogy", true},
    {"aclnnXLogYScalarSelf", real_binary, "Xlogy", true},
    {"aclnnIsClose", is_close, "", true},
    {"aclnnSWhere", where, "", true},
    {"aclnnInplaceMaskedFillScalar", masked_fill, "", true},
    {"aclnnInplaceMaskedFillTensor", masked_fill, "", true},
};

}  // namespace

std::span<const Row> elementwise_rows() { return kRows; }

}  // namespace anynpu::aclnn
