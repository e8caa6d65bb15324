// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/matrix.h"

#include <gtest/gtest.h>

#include <cmath>

namespace anynpu::ops::linalg {
namespace {

Matrix numbers(int64_t rows, int64_t columns) {
  Matrix made(rows, columns);
  uint32_t state = 7;
  for (int64_t i = 0; i < made.count(); ++i) {
    state = state * 1664525u + 1013904223u;
    made.data()[i] = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
  }
  return made;
}
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix made(a.rows(), b.columns());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < b.columns(); ++j) {
      for (int64_t k = 0; k < a.columns(); ++k) made.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return made;
}
double gap(const Matrix& a, const Matrix& b) {
  double largest = a.rows() == b.rows() && a.columns() == b.columns() ? 0 : INFINITY;
  for (int64_t i = 0; i < a.count(); ++i) largest = std::fmax(largest, std::fabs(a.data()[i] - b.data()[i]));
  return largest;
}

TEST(Matrices, QrGivesTheMatrixBackAndRightAngles) {
  for (const auto& [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}, {1, 1}, {3, 0}}) {
    for (bool complete : {false, true}) {
      const Matrix a = numbers(m, n);
      const Qr parts = qr(a, complete);
      EXPECT_LT(gap(product(parts.q, parts.r), a), 1e-12) << m << " " << n;
      EXPECT_LT(gap(product(parts.q.transposed(), parts.q), Matrix::identity(parts.q.columns())), 1e-12);
    }
  }
}

TEST(Matrices, SvdGivesTheMatrixBackWithTheLargestValueFirst) {
  for (const auto& [m, n] : {std::pair{6, 4}, {4, 6}, {3, 3}, {1, 4}}) {
    for (bool full : {false, true}) {
      const Matrix a = numbers(m, n);
      const Svd parts = svd(a, full);
      Matrix middle(parts.u.columns(), parts.v.columns());
      for (size_t i = 0; i < parts.values.size(); ++i) {
        middle.at(static_cast<int64_t>(i), static_cast<int64_t>(i)) = parts.values[i];
        if (i > 0) {
          EXPECT_GE(parts.values[i - 1], parts.values[i]);
        }
      }
      EXPECT_LT(gap(product(product(parts.u, middle), parts.v.transposed()), a), 1e-12);
      EXPECT_LT(gap(product(parts.u.transposed(), parts.u), Matrix::identity(parts.u.columns())), 1e-12);
    }
  }
}

TEST(Matrices, SvdOfAMatrixWithoutFullRankHasAWholeBasis) {
  Matrix a(3, 3);
  a.at(0, 0) = 2;
  const Svd parts = svd(a, false);
  EXPECT_EQ(parts.values, (std::vector<double>{2, 0, 0}));
  EXPECT_LT(gap(product(parts.u.transposed(), parts.u), Matrix::identity(3)), 1e-12);
}

TEST(Matrices, CholeskyInverseAndTriangles) {
  Matrix a = numbers(4, 4);
  a = product(a, a.transposed());
  for (int64_t i = 0; i < 4; ++i) a.at(i, i) += 1;
  Matrix root = a;
  EXPECT_EQ(cholesky(root), -1);
  EXPECT_LT(gap(product(root, root.transposed()), a), 1e-12);
  Matrix inverse = a;
  EXPECT_TRUE(invert(inverse));
  EXPECT_LT(gap(product(inverse, a), Matrix::identity(4)), 1e-12);
  for (bool transpose : {false, true}) {
    Matrix x = numbers(4, 2);
    solve(root, {false, transpose, false}, x);
    EXPECT_LT(gap(product(transpose ? root.transposed() : root, x), numbers(4, 2)), 1e-12);
  }
  Matrix bad = Matrix::identity(2), flat(2, 2);
  bad.at(1, 1) = -1;
  EXPECT_EQ(cholesky(bad), 1);
  EXPECT_FALSE(invert(flat));
}

}  // namespace
}  // namespace anynpu::ops::linalg
