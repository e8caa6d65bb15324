// SPDX-License-Identifier: Apache-2.0
// Matrix products. A matrix that is stored transposed is not copied.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

struct Parts {
  Value real, imaginary;
};
Parts parts_of(Recipe& r, Value x) {
  const Value both = r.op("ComplexParts", {x});
  const Shape shape = r.shape(x);
  const auto axis = static_cast<int64_t>(shape.size());
  const auto part = [&](int64_t i) { return r.reshape(r.slice(both, axis, i, i + 1), shape); };
  return {part(0), part(1)};
}

Value multiply(Recipe& r, Value a, Value b, bool turn_a, bool turn_b) {
  const auto real = [&](Value left, Value right) {
    return r.op("FusedMatMul", {left, right}, {{"transA", turn_a}, {"transB", turn_b}});
  };
  if (!is_complex(r.dtype(a))) return real(a, b);
  const Parts x = parts_of(r, a), y = parts_of(r, b);
  return r.op("ToComplex", {r.op("Sub", {real(x.real, y.real), real(x.imaginary, y.imaginary)}),
                            r.op("Add", {real(x.real, y.imaginary), real(x.imaginary, y.real)})});
}

// a x b with torch.matmul's rules for vectors: one axis is added and dropped again. `wide`: of
// 16-bit floats in float32.
Value product(Recipe& r, Param a_name, Param b_name, bool wide = false) {
  bool turn_a = false, turn_b = false;
  DType type = promote(r.dtype(a_name), r.dtype(b_name));
  if (wide) type = computed_in(type);
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
  const Value y = multiply(r, a, b, turn_a, turn_b);
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

// The sum of the products of a batch, rounded once.
void addbmm(Recipe& r) {
  const Value all = product(r, 1, 2, true);
  add_product(r, r.op("ReduceSum", {all, r.constant({0})}, {{"keepdims", 0}}), r.result());
}

void dot(Recipe& r) { r.out("out", product(r, "self", "tensor")); }

// Every element of one vector times every one of the other.
void outer(Recipe& r) {
  const DType type = arithmetic_type(r, 0, 1);
  const Value a = r.cast(r.in(0), type), b = r.cast(r.in(1), type);
  r.out("out", r.op("Mul", {r.reshape(a, {r.extent(a, 0), 1}), r.reshape(b, {1, r.extent(b, 0)})}));
}

// beta * self + alpha * outer product.
void add_outer(Recipe& r) {
  const DType type = computed_in(promote(r.dtype("self"), promote(r.dtype(1), r.dtype(2))));
  const Value a = r.cast(r.in(1), type), b = r.cast(r.in(2), type);
  Value y = r.op("Mul", {r.reshape(a, {r.extent(a, 0), 1}), r.reshape(b, {1, r.extent(b, 0)})});
  const auto given = [&](const char* name) { return r.given(name) && !r.equals(name, 1); };
  if (given("alphaOptional")) y = r.op("Mul", {y, r.number("alphaOptional", type)});
  if (!r.given("betaOptional") || !r.equals("betaOptional", 0)) {
    Value self = r.cast(r.in(0), type);
    if (given("betaOptional")) self = r.op("Mul", {self, r.number("betaOptional", type)});
    y = r.op("Add", {y, self});
  }
  r.out(r.result(), y);
}

void cross(Recipe& r) {
  const DType type = arithmetic_type(r, 0, 1);
  const Value wide = r.op("Mul", {r.cast(r.in(0), type), r.cast(r.in(1), type)});
  const Shape shape = r.shape(wide);
  const int64_t axis = r.axis("dim", shape.size());
  const auto part = [&](int input, int64_t i) {
    return r.slice(r.expand(r.cast(r.in(input), type), shape), axis, i, i + 1);
  };
  if (shape.empty() || shape[static_cast<size_t>(axis)] != 3) {
    refuse("axis {} has another extent than 3", axis);
  }
  Values parts;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3, k = (i + 2) % 3;
    parts.push_back(r.op(
        "Sub", {r.op("Mul", {part(0, j), part(1, k)}), r.op("Mul", {part(0, k), part(1, j)})}));
  }
  r.out("out", r.op("Concat", parts, {{"axis", axis}}));
}

// The sum of the diagonal.
void trace(Recipe& r) {
  const Shape shape = r.shape("self");
  if (shape.size() != 2) refuse("self has {} axes; expected 2", shape.size());
  const int64_t count = std::min(shape[0], shape[1]);
  const DType type = computed_in(r.dtype("out"));
  Ints places;
  for (int64_t i = 0; i < count; ++i) places.push_back(i * shape[1] + i);
  const Value all = r.reshape(r.cast(r.in("self"), type), {shape[0] * shape[1]});
  const Value picked = r.op("Gather", {all, r.constant(places)}, {{"axis", 0}});
  r.out("out",
        r.reshape(r.op("ReduceSum", {picked, r.constant({0})}, {{"keepdims", 0}}), r.shape("out")));
}

const Row kRows[] = {
    {"aclnnAddr", add_outer},
    {"aclnnInplaceAddr", add_outer},
    {"aclnnLinalgCross", cross},
    {"aclnnTrace", trace},
    {"aclnnMatmul", matmul},
    {"aclnnMm", matmul},
    // Weights in blocks are refused where arguments are read; others lie as their strides say.
    {"aclnnMatmulWeightNz", matmul},
    {"aclnnBatchMatMulWeightNz", matmul},
    {"aclnnBatchMatMul", matmul},
    {"aclnnMv", matmul},
    {"aclnnDot", dot},
    {"aclnnGer", outer},
    {"aclnnAddmm", addmm},
    {"aclnnAddmmWeightNz", addmm},
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
