// SPDX-License-Identifier: Apache-2.0
// Small dense matrices in double, by rows, and their decompositions: Householder's reflections for
// Qr with the signs that LAPACK gives, one-sided Jacobi rotations for Svd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anynpu::ops::linalg {

class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), values_(static_cast<size_t>(rows * columns)) {}
  static Matrix identity(int64_t size);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t count() const { return rows_ * columns_; }
  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }
  double& at(int64_t row, int64_t column) {
    return values_[static_cast<size_t>(row * columns_ + column)];
  }
  double at(int64_t row, int64_t column) const {
    return values_[static_cast<size_t>(row * columns_ + column)];
  }
  Matrix transposed() const;
  // The first columns or rows.
  Matrix part(int64_t rows, int64_t columns) const;

 private:
  int64_t rows_, columns_;
  std::vector<double> values_;
};

// The lower triangle L with L * L' = a, in place; reads the lower triangle. Returns -1, or the row
// at which `a` turned out not to be positive-definite.
int64_t cholesky(Matrix& a);

struct Qr {
  Matrix q, r;
};
Qr qr(Matrix a, bool complete);

struct Svd {
  Matrix u;
  std::vector<double> values;  // the largest first
  Matrix v;                    // columns, not transposed
};
Svd svd(const Matrix& a, bool full);

struct Triangle {
  bool upper, transpose, unit;
};
// b becomes x with A x = b, reading the triangle of A.
void solve(const Matrix& a, Triangle triangle, Matrix& b);

// In place, by elimination with row exchange; false when singular.
bool invert(Matrix& a);

}  // namespace anynpu::ops::linalg
