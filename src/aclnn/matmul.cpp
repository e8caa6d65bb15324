// SPDX-License-Identifier: Apache-2.0
// Matrix products. A matrix that is stored transposed is not copied.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// a x b with torch.matmul's rules for vectors: one axis is added and dropped again.
Value product(Recipe& r, Param a_name, Param b_name) {
  bool turn_a = false, turn_b = false;
  const DType type = promote(r.dtype(a_name), r.dtype(b_name));
  const size_t rank_a = r.rank(a_name), rank_b = r.rank(b_name);
  if (rank_a == 0 || rank_b == 0) {
    refuse("the tensors have {} and {} axes; expected at least one each", rank_a, rank_b);
  }
  Value a = r.cast(r.matrix(a_name, turn_a), type), b = r.cast(r.matrix(b_name, turn_b), type);
  if (rank_a == 1) a = r.reshape(a, {1, r.extent(a, 0)});
  if (rank_b == 1) b = r.reshape(b, {r.extent(b, 0), 1});
  // Integers of 8 and 16 bits have no kernels.
  const bool narrow = is_integer(type) && size_of(type) < 4;
  if (narrow || type == DType::boolean) a = r.cast(a, DType::i32), b = r.cast(b, DType::i32);
  Value y = r.op("FusedMatMul", {a, b}, {{"transA", turn_a}, {"transB", turn_b}});
  Shape shape = r.shape(y);
  if (rank_b == 1) shape.pop_back();
  if (rank_a == 1) shape.erase(shape.end() - (rank_b == 1 ? 1 : 2));
  return r.reshape(y, shape);
}

void matmul(Recipe& r) { r.out(2, product(r, 0, 1)); }

// beta * self + alpha * product. A beta of 0 leaves self unread: it may hold NaN.
void add_product(Recipe& r, Value y, Param out) {
  const DType wide = computed_in(r.dtype(y));
  const bool plain = r.equals("alpha", 1), adds = !r.equals("beta", 0);
  if (!plain || adds) y = r.cast(y, wide);
  if (!plain) y = r.op("Mul", {y, r.number("alpha", wide)});
  if (adds) {
    Value self = r.cast(r.in(0), wide);
    if (!r.equals("beta", 1)) self = r.op("Mul", {self, r.number("beta", wide)});
    y = r.op("Add", {y, self});
  }
  r.out(out, r.expand(y, r.shape(out)));
}

void addmm(Recipe& r) { add_product(r, product(r, 1, 2), r.result()); }

// The sum of the products of a batch.
void addbmm(Recipe& r) {
  const Value all = product(r, 1, 2);
  add_product(r, r.op("ReduceSum", {all, r.constant({0})}, {{"keepdims", 0}}), r.result());
}

void dot(Recipe& r) { r.out("out", product(r, "self", "tensor")); }

// Every element of one vector times every one of the other.
void outer(Recipe& r) {
  const DType type = arithmetic_type(r, 0, 1);
  const Value a = r.cast(r.in(0), type), b = r.cast(r.in(1), type);
  r.out("out", r.op("Mul", {r.reshape(a, {r.extent(a, 0), 1}), r.reshape(b, {1, r.extent(b, 0)})}));
}

const Row kRows[] = {
    {"aclnnMatmul", matmul},
    {"aclnnMm", matmul},
    {"aclnnBatchMatMul", matmul},
    {"aclnnMv", matmul},
    {"aclnnDot", dot},
    {"aclnnGer", outer},
    {"aclnnAddmm", addmm},
    {"aclnnInplaceAddmm", addmm},
    {"aclnnBaddbmm", addmm},
    {"aclnnInplaceBaddbmm", addmm},
    {"aclnnAddmv", addmm},
    {"aclnnAddbmm", addbmm},
    {"aclnnInplaceAddbmm", addbmm},
};

}  // namespace

std::span<const Row> matmul_rows() { return kRows; }

}  // namespace anynpu::aclnn
