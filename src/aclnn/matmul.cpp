// SPDX-License-Identifier: Apache-2.0
// Matrix products. A matrix that is stored transposed is not copied.
#include "aclnn/recipe.h"

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
  Value y = r.op("FusedMatMul", {a, b}, {{"transA", turn_a}, {"transB", turn_b}});
  Shape shape = r.shape(y);
  if (rank_b == 1) shape.pop_back();
  if (rank_a == 1) shape.erase(shape.end() - (rank_b == 1 ? 1 : 2));
  return r.reshape(y, shape);
}

void matmul(Recipe& r) { r.out("out", product(r, "self", "mat2")); }

const Row kRows[] = {
    {"aclnnMatmul", matmul},
    {"aclnnMm", matmul},
    {"aclnnBatchMatMul", matmul},
};

}  // namespace

std::span<const Row> matmul_rows() { return kRows; }

}  // namespace anynpu::aclnn
