// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic and bits, element by element.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// number 1: the opposite.
void compare(Recipe& r) {
  const DType type = arithmetic_type(r, 0, 1);
  Value y = r.op(r.row().op, {operand(r, 0, type), operand(r, 1, type)});
  if (r.row().number) y = r.op("Not", {y});
  r.out(r.result(), y);
}

void logical(Recipe& r) {
  r.out(r.result(),
        r.op(r.row().op, {r.cast(r.in(0), DType::boolean), r.cast(r.in(1), DType::boolean)}));
}

void logical_not(Recipe& r) { r.out(r.result(), r.op("Not", {r.cast(r.in(0), DType::boolean)})); }

// `op` is the operator of integers; that of truth values has the same name without Bitwise.
void bitwise(Recipe& r) {
  const DType type = common_type(r, 0, 1);
  const Value a = operand(r, 0, type), b = operand(r, 1, type);
  r.out(r.result(), r.op(type == DType::boolean ? r.row().op + 7 : r.row().op, {a, b}));
}

void bitwise_not(Recipe& r) {
  r.out(r.result(), r.op(r.dtype(0) == DType::boolean ? "Not" : "BitwiseNot", {r.in(0)}));
}

// Whether all elements are equal, as one truth value; shapes that differ are not.
void equal(Recipe& r) {
  if (r.shape("self") != r.shape("other")) {
    return r.out("out", r.filled(DType::boolean, r.shape("out"), 0));
  }
  const DType type = promote(r.dtype("self"), r.dtype("other"));
  const Value same = r.op("Equal", {r.cast(r.in("self"), type), r.cast(r.in("other"), type)});
  const Value least =
      r.op("ReduceMin", {r.cast(r.reshape(same, {r.tensor("self").count()}), DType::i32)},
           {{"keepdims", 0}});
  if (r.tensor("self").count() == 0) {
    return r.out("out", r.filled(DType::boolean, r.shape("out"), 1));
  }
  r.out("out", r.reshape(least, r.shape("out")));
}

// Infinite numbers: number 1 positive, 2 negative ones, 3 both.
void infinite(Recipe& r) {
  if (!is_floating(r.dtype(0))) return r.out(r.result(), r.filled(DType::boolean, r.shape(0), 0));
  r.out(r.result(), r.op("IsInf", {r.in(0)},
                         {{"detect_positive", (r.row().number & 1) != 0},
                          {"detect_negative", (r.row().number & 2) != 0}}));
}

void finite(Recipe& r) {
  if (!is_floating(r.dtype(0))) return r.out(r.result(), r.filled(DType::boolean, r.shape(0), 1));
  const Value x = r.in(0);
  r.out(r.result(), r.op("Not", {r.op("Or", {r.op("IsInf", {x}), r.op("IsNaN", {x})})}));
}

const Row kRows[] = {
    {"aclnnEqTensor", compare, "Equal", true},
    {"aclnnInplaceEqTensor", compare, "Equal", true},
    {"aclnnEqScalar", compare, "Equal", true},
    {"aclnnInplaceEqScalar", compare, "Equal", true},
    {"aclnnNeTensor", compare, "Equal", true, 1},
    {"aclnnInplaceNeTensor", compare, "Equal", true, 1},
    {"aclnnNeScalar", compare, "Equal", true, 1},
    {"aclnnInplaceNeScalar", compare, "Equal", true, 1},
    {"aclnnGtTensor", compare, "Greater", true},
    {"aclnnInplaceGtTensor", compare, "Greater", true},
    {"aclnnGtScalar", compare, "Greater", true},
    {"aclnnInplaceGtScalar", compare, "Greater", true},
    {"aclnnGeTensor", compare, "GreaterOrEqual", true},
    {"aclnnInplaceGeTensor", compare, "GreaterOrEqual", true},
    {"aclnnGeScalar", compare, "GreaterOrEqual", true},
    {"aclnnInplaceGeScalar", compare, "GreaterOrEqual", true},
    {"aclnnLtTensor", compare, "Less", true},
    {"aclnnInplaceLtTensor", compare, "Less", true},
    {"aclnnLtScalar", compare, "Less", true},
    {"aclnnInplaceLtScalar", compare, "Less", true},
    {"aclnnLeTensor", compare, "LessOrEqual", true},
    {"aclnnInplaceLeTensor", compare, "LessOrEqual", true},
    {"aclnnLeScalar", compare, "LessOrEqual", true},
    {"aclnnInplaceLeScalar", compare, "LessOrEqual", true},
    {"aclnnLogicalAnd", logical, "And", true},
    {"aclnnInplaceLogicalAnd", logical, "And", true},
    {"aclnnLogicalOr", logical, "Or", true},
    {"aclnnInplaceLogicalOr", logical, "Or", true},
    {"aclnnLogicalXor", logical, "Xor", true},
    {"aclnnLogicalNot", logical_not, "", true},
    {"aclnnInplaceLogicalNot", logical_not, "", true},
    {"aclnnBitwiseAndTensor", bitwise, "BitwiseAnd", true},
    {"aclnnInplaceBitwiseAndTensor", bitwise, "BitwiseAnd", true},
    {"aclnnBitwiseAndScalar", bitwise, "BitwiseAnd", true},
    {"aclnnInplaceBitwiseAndScalar", bitwise, "BitwiseAnd", true},
    {"aclnnBitwiseOrTensor", bitwise, "BitwiseOr", true},
    {"aclnnInplaceBitwiseOrTensor", bitwise, "BitwiseOr", true},
    {"aclnnBitwiseOrScalar", bitwise, "BitwiseOr", true},
    {"aclnnInplaceBitwiseOrScalar", bitwise, "BitwiseOr", true},
    {"aclnnBitwiseXorTensor", bitwise, "BitwiseXor", true},
    {"aclnnInplaceBitwiseXorTensor", bitwise, "BitwiseXor", true},
    {"aclnnBitwiseXorScalar", bitwise, "BitwiseXor", true},
    {"aclnnInplaceBitwiseXorScalar", bitwise, "BitwiseXor", true},
    {"aclnnBitwiseNot", bitwise_not, "", true},
    {"aclnnEqual", equal},
    {"aclnnIsFinite", finite, "", true},
    {"aclnnIsInf", infinite, "", true, 3},
    {"aclnnIsPosInf", infinite, "", true, 1},
    {"aclnnIsNegInf", infinite, "", true, 2},
};

}  // namespace

std::span<const Row> compare_rows() { return kRows; }

}  // namespace anynpu::aclnn
