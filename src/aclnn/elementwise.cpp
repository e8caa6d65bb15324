// SPDX-License-Identifier: Apache-2.0
// Sums, products and comparisons of two tensors, or of a tensor and a number.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// self + alpha * other; `op` is Add or Sub.
void add(Recipe& r) {
  DType type = promote(r.dtype("self"), r.dtype("other"));
  const bool plain = !r.given("alpha") || r.equals("alpha", 1);
  if (!plain || type == DType::boolean) type = computed_in(type);
  Value other = r.cast(r.in("other"), type);
  if (!plain) other = r.op("Mul", {other, r.number("alpha", type)});
  r.out("out", r.op(r.row().op, {r.cast(r.in("self"), type), other}));
}

// self + alpha * number.
void add_scalar(Recipe& r) {
  const DType type =
      computed_in(promote_scalar(r.dtype("self"), r.scalar_type("other")));
  Value other = r.number("other", type);
  if (r.given("alpha") && !r.equals("alpha", 1))
    other = r.op("Mul", {other, r.number("alpha", type)});
  r.out("out", r.op(r.row().op, {r.cast(r.in("self"), type), other}));
}

void multiply(Recipe& r) {
  DType type = promote(r.dtype("self"), r.dtype("other"));
  if (type == DType::boolean) type = DType::i32;
  r.out("out", r.op("Mul", {r.cast(r.in("self"), type), r.cast(r.in("other"), type)}));
}

void multiply_scalar(Recipe& r) {
  const DType type =
      computed_in(promote_scalar(r.dtype("self"), r.scalar_type("other")));
  r.out("out", r.op("Mul", {r.cast(r.in("self"), type), r.number("other", type)}));
}

// Functions of numbers of any kind: the type stays.
void unary(Recipe& r) {
  const DType type = r.dtype(0);
  r.out(static_cast<int>(r.row().number), r.op(r.row().op, {r.in(0)}));
  (void)type;
}

const Row kRows[] = {
    {"aclnnAdd", add, "Add", true},
    {"aclnnInplaceAdd", add, "Add", true},
    {"aclnnAdds", add_scalar, "Add", true},
    {"aclnnInplaceAdds", add_scalar, "Add", true},
    {"aclnnSub", add, "Sub", true},
    {"aclnnInplaceSub", add, "Sub", true},
    {"aclnnSubs", add_scalar, "Sub", true},
    {"aclnnInplaceSubs", add_scalar, "Sub", true},
    {"aclnnMul", multiply, "", true},
    {"aclnnInplaceMul", multiply, "", true},
    {"aclnnMuls", multiply_scalar, "", true},
    {"aclnnInplaceMuls", multiply_scalar, "", true},
    {"aclnnRelu", unary, "Relu", true, 1},
    {"aclnnInplaceRelu", unary, "Relu", true, 0},
};

}  // namespace

std::span<const Row> elementwise_rows() { return kRows; }

}  // namespace anynpu::aclnn
