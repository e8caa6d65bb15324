// SPDX-License-Identifier: Apache-2.0
// Products by formula, and matrices that are given by their elements.
#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

// A dense tensor from places, values and extents.
ValueId dense(Builder& b, ValueId places, ValueId values, ValueId shape) {
  const ValueId room = b.node("Expand", 13, {b.scalar(b.dtype(values), 0), shape});
  return b.node("ScatterND", 18, {room, b.index(places), values},
                {{"reduction", std::string("add")}});
}

}  // namespace

void lower_cross(Builder& b) {
  const ValueId x = b.in(0), y = b.in(1);
  if (!b.has_rank(x, "the vectors", 1)) return;
  const int64_t axis = b.rank(x) - 1;
  const auto turned = [&](ValueId v, const Ints& order) {
    return b.node("Gather", 13, {v, b.list(order)}, {{"axis", axis}});
  };
  const ValueId left = mul(b, turned(x, {1, 2, 0}), turned(y, {2, 0, 1}));
  const ValueId right = mul(b, turned(x, {2, 0, 1}), turned(y, {1, 2, 0}));
  b.out(0, sub(b, left, right));
}

void lower_log_determinant(Builder& b) {
  const auto made = b.nodes("anynpu.LogDeterminant", 1, {b.in(0)}, 2);
  for (size_t i = 0; i < made.size(); ++i) b.out(i, made[i]);
}

void lower_lu(Builder& b) {
  const DType type = b.type("output_idx_type", DType::i32);
  const auto made = b.nodes("anynpu.Lu", 1, {b.in(0)}, 2);
  b.out(0, made[0]);
  b.out(1, b.cast(made[1], type));
}

void lower_qr(Builder& b) {
  const int64_t full = b.flag("full_matrices", false);
  const auto made = b.nodes("anynpu.Qr", 1, {b.in(0)}, 2, {{"complete", full}});
  for (size_t i = 0; i < made.size(); ++i) b.out(i, made[i]);
}

void lower_inverse(Builder& b) {
  b.out(0,
        b.node("anynpu.Inverse", 1, {b.in(0)}, {{"adjoint", int64_t{b.flag("adjoint", false)}}}));
}

// MatrixSolve, MatrixTriangularSolve: the matrix comes first there.
void lower_matrix_solver(Builder& b) {
  const int64_t adjoint = b.flag("adjoint", false);
  NodeAttrs attrs{{"adjoint", adjoint}};
  if (b.type() == "MatrixTriangularSolve")
    attrs = {{"transpose", adjoint}, {"upper", int64_t{!b.flag("lower", true)}}};
  b.out(0, b.node(b.row().becomes, 1, {b.in(1), b.in(0)}, attrs));
}

// Vectors have signs that no two libraries choose alike; the products of the parts are the same.
void lower_svd(Builder& b) {
  const bool vectors = b.flag("compute_uv", true);
  const auto made =
      b.nodes("anynpu.Svd", 1, {b.in(0)}, 3, {{"full", int64_t{b.flag("full_matrices", false)}}});
  b.out(0, made[1]);
  if (!vectors) return;
  b.out(1, made[0]);
  b.out(2, made[2]);
}

void lower_eigen(Builder& b) {
  const bool vectors = b.flag("compute_v", true);
  const auto made = b.nodes("anynpu.SymmetricEigen", 1, {b.in(0)}, 2);
  b.out(0, made[0]);
  if (vectors) b.out(1, made[1]);
}

// The normal equations, with the square of the parameter on the diagonal.
void lower_least_squares(Builder& b) {
  const ValueId x = b.in(0), right = b.in(1);
  const double weight = b.in_number(2);
  if (!b.need_fixed(x, "the matrix") || !b.has_rank(x, "the matrix", 2, 2)) return;
  const int64_t rows = b.shape(x)[0], columns = b.shape(x)[1];
  if (rows < columns) {
    return b.refuse(Code::unsupported_feature,
                    "the matrix is {}; expected at least as many rows as columns",
                    to_string(b.shape(x)));
  }
  const ValueId turned = b.transpose(x, {1, 0});
  ValueId square = b.node("MatMul", 13, {turned, x});
  if (weight != 0) {
    std::vector<double> diagonal(static_cast<size_t>(columns * columns), 0.0);
    for (int64_t i = 0; i < columns; ++i) diagonal[static_cast<size_t>(i * (columns + 1))] = weight;
    const ValueId extra = b.constant(DType::f64, {columns, columns}, graph::constant_of(diagonal));
    square = add(b, square, b.cast(extra, b.dtype(x)));
  }
  b.out(0, b.node("anynpu.MatrixSolve", 1, {b.node("MatMul", 13, {turned, right}), square}));
}

// Three diagonals, each a row, times a matrix.
void lower_tridiagonal_matmul(Builder& b) {
  const ValueId above = b.in(0), middle = b.in(1), below = b.in(2), x = b.in(3);
  if (!b.need_fixed(x, "the right side") || !b.has_rank(x, "the right side", 2)) return;
  const int64_t rank = b.rank(x), axis = rank - 2, rows = b.shape(x)[static_cast<size_t>(axis)];
  Ints order;
  for (int64_t i = 0; i < rank - 2; ++i) order.push_back(i);
  order.insert(order.end(), {rank - 1, rank - 2});
  const auto column = [&](ValueId row) { return b.transpose(row, order); };
  const auto shifted = [&](int64_t by) {
    Ints pads(static_cast<size_t>(2 * rank), 0);
    pads[static_cast<size_t>(by > 0 ? rank + axis : axis)] = 1;
    const ValueId part = by > 0 ? b.slice(x, axis, 1, rows) : b.slice(x, axis, 0, rows - 1);
    return b.node("Pad", 18, {part, b.list(pads)});
  };
  const ValueId sum = add(b, mul(b, column(middle), x), mul(b, column(above), shifted(1)));
  b.out(0, add(b, sum, mul(b, column(below), shifted(-1))));
}

void lower_sparse_matmul(Builder& b) {
  const bool left = b.flag("adjoint_a", false), right = b.flag("adjoint_b", false);
  ValueId x = dense(b, b.in(0), b.in(1), b.in_row(2)), y = b.in(3);
  if (left) x = b.transpose(x, {1, 0});
  if (right) y = b.transpose(y, {1, 0});
  b.out(0, b.node("MatMul", 13, {x, y}));
}

void lower_sparse_add(Builder& b) {
  const ValueId places = b.index(b.in(0)), values = b.in(1), x = b.in(3);
  if (b.ok())
    b.out(0, b.node("ScatterND", 18, {x, places, values}, {{"reduction", std::string("add")}}));
}

// SparseDenseCwiseMul and its sisters: the values, with the dense ones at their places.
void lower_sparse_elementwise(Builder& b) {
  const ValueId places = b.index(b.in(0)), values = b.in(1), x = b.in(3);
  if (!b.ok()) return;
  const ValueId wide = b.node("Expand", 13, {x, b.in_row(2)});
  b.out(0, b.node(b.row().becomes, 14, {values, b.node("GatherND", 13, {wide, places})}));
}

void lower_sparse_reduce(Builder& b) {
  const bool keep = b.flag("keep_dims", false);
  const ValueId x = dense(b, b.in(0), b.in(1), b.in_row(2));
  if (!b.ok()) return;
  b.out(0, b.node("ReduceSum", 13, {x, b.in_row(3)}, {{"keepdims", int64_t{keep}}}));
}

// Three diagonals as rows, above, on and below the main one; the matrix is written out.
void lower_tridiagonal_solve(Builder& b) {
  const ValueId rows = b.in(0), right = b.in(1);
  if (!b.has_rank(rows, "the diagonals", 2) || !b.need_fixed(rows, "the diagonals")) return;
  const int64_t rank = b.rank(rows), n = b.shape(rows).back();
  if (b.shape(rows)[static_cast<size_t>(rank - 2)] != 3 || n > 4096) {
    return b.refuse(Code::unsupported_shape, "the diagonals are {}; expected three of at most 4096",
                    to_string(b.shape(rows)));
  }
  ValueId matrix = b.scalar(b.dtype(rows), 0);
  for (int64_t k = 0; k < 3; ++k) {
    std::vector<uint8_t> here(static_cast<size_t>(n * n), 0);
    for (int64_t i = std::max<int64_t>(0, k - 1); i < std::min(n, n + k - 1); ++i)
      here[static_cast<size_t>(i * n + i + 1 - k)] = 1;
    const ValueId mask = b.constant(DType::boolean, {n, n}, graph::constant_of(std::move(here)));
    const ValueId row = b.squeeze(b.slice(rows, rank - 2, k, k + 1), {rank - 2});
    matrix = b.node("Where", 16, {mask, b.unsqueeze(row, {rank - 1}), matrix});
  }
  if (b.ok()) b.out(0, b.node("anynpu.MatrixSolve", 1, {right, matrix}));
}

// A triangular matrix given by its diagonals as rows: the main one and those below it, with their
// ends on the right, or those above it, with their starts on the left, and the main one.
void lower_banded_solve(Builder& b) {
  const ValueId bands = b.in(0), right = b.in(1);
  const bool lower = b.flag("lower", true);
  const int64_t adjoint = b.flag("adjoint", false);
  if (!b.has_rank(bands, "the bands", 2) || !b.need_fixed(bands, "the bands")) return;
  const int64_t rank = b.rank(bands), n = b.shape(bands).back(),
                count = b.shape(bands)[static_cast<size_t>(rank - 2)];
  if (count < 1 || count > n || n > 4096) {
    return b.refuse(Code::unsupported_shape,
                    "the bands are {}; expected at most as many rows as columns, and 4096 columns",
                    to_string(b.shape(bands)));
  }
  ValueId matrix = b.scalar(b.dtype(bands), 0);
  for (int64_t k = 0; k < count; ++k) {
    // Row i of the matrix has element i of the band at column i + away.
    const int64_t away = lower ? -k : count - 1 - k;
    std::vector<uint8_t> here(static_cast<size_t>(n * n), 0);
    for (int64_t i = std::max<int64_t>(0, -away); i < std::min(n, n - away); ++i)
      here[static_cast<size_t>(i * n + i + away)] = 1;
    const ValueId mask = b.constant(DType::boolean, {n, n}, graph::constant_of(std::move(here)));
    const ValueId row = b.squeeze(b.slice(bands, rank - 2, k, k + 1), {rank - 2});
    matrix = b.node("Where", 16, {mask, b.unsqueeze(row, {rank - 1}), matrix});
  }
  b.out(0, b.node("anynpu.TriangularSolve", 1, {right, matrix},
                  {{"transpose", adjoint}, {"upper", int64_t{!lower}}}));
}

}  // namespace anynpu::tensorflow
