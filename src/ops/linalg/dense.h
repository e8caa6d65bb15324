// SPDX-License-Identifier: Apache-2.0
// Small dense matrices by rows, in double or in complex numbers of doubles, and their
// decompositions: elimination with row exchange, Householder's reflections for Qr with the signs
// that LAPACK gives, Jacobi's rotations for Svd and for symmetric matrices.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anynpu::ops::linalg {

template <typename T>
class MatrixOf {
 public:
  MatrixOf(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), values_(static_cast<size_t>(rows * columns)) {}
  static MatrixOf identity(int64_t size) {
    MatrixOf made(size, size);
    for (int64_t i = 0; i < size; ++i) made.at(i, i) = T(1);
    return made;
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t count() const { return rows_ * columns_; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T& at(int64_t row, int64_t column) {
    return values_[static_cast<size_t>(row * columns_ + column)];
  }
  const T& at(int64_t row, int64_t column) const {
    return values_[static_cast<size_t>(row * columns_ + column)];
  }
  // The conjugates of complex numbers too.
  MatrixOf transposed() const;
  // The first rows and columns.
  MatrixOf part(int64_t rows, int64_t columns) const;

 private:
  int64_t rows_, columns_;
  std::vector<T> values_;
};

using Matrix = MatrixOf<double>;
using ComplexMatrix = MatrixOf<std::complex<double>>;

// The functions that have a T are there for both.

template <typename T>
MatrixOf<T> product(const MatrixOf<T>& a, const MatrixOf<T>& b);

// L and U in one; order[i] is the row of the matrix that stands at i. A singular matrix has a 0 on
// the diagonal.
template <typename T>
struct Lu {
  MatrixOf<T> parts;
  std::vector<int64_t> order;
  int sign = 1;  // of the exchanges

  bool singular() const;
  T determinant() const;
  // x with A x = b.
  MatrixOf<T> solve(const MatrixOf<T>& b) const;
};
template <typename T>
Lu<T> lu(MatrixOf<T> a);

// In place; false when singular.
template <typename T>
bool invert(MatrixOf<T>& a);

// The lower triangle L with L * L' = a, in place; reads the lower triangle. Returns -1, or the row
// at which `a` turned out not to be positive-definite.
template <typename T>
int64_t cholesky(MatrixOf<T>& a);

struct Triangle {
  bool upper, transpose, unit;
};
// b becomes x with A x = b, reading the triangle of A.
template <typename T>
void solve(const MatrixOf<T>& a, Triangle triangle, MatrixOf<T>& b);

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

struct Eigen {
  std::vector<double> values;  // the smallest first
  Matrix vectors;              // columns
};
// Of a symmetric matrix; reads the lower triangle.
Eigen symmetric_eigen(Matrix a);

// The principal square root and logarithm: of matrices whose eigenvalues do not lie on the negative
// real axis. False: they were not found.
bool square_root(ComplexMatrix& a);
bool logarithm(ComplexMatrix& a);

}  // namespace anynpu::ops::linalg
