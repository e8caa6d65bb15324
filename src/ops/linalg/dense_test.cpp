// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/dense.h"

#include <cmath>

#include "ops/test_node.h"

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
ComplexMatrix complex_numbers(int64_t size) {
  const Matrix real = numbers(size, size), imaginary = numbers(size + 1, size);
  ComplexMatrix made(size, size);
  for (int64_t i = 0; i < made.count(); ++i)
    made.data()[i] = {real.data()[i], imaginary.data()[i + size]};
  return made;
}
template <typename T>
double gap(const MatrixOf<T>& a, const MatrixOf<T>& b) {
  double largest = a.rows() == b.rows() && a.columns() == b.columns() ? 0 : INFINITY;
  for (int64_t i = 0; i < a.count(); ++i)
    largest = std::fmax(largest, std::abs(a.data()[i] - b.data()[i]));
  return largest;
}
template <typename T>
MatrixOf<T> positive(const MatrixOf<T>& a) {
  MatrixOf<T> made = product(a, a.transposed());
  for (int64_t i = 0; i < a.rows(); ++i) made.at(i, i) += 1;
  return made;
}

TEST(Dense, LuSolvesWhatItDecomposed) {
  Matrix a(2, 2), b(2, 1);
  a.at(0, 1) = 2;
  a.at(1, 0) = a.at(1, 1) = 1;
  b.at(0, 0) = 4;
  b.at(1, 0) = 3;
  const Lu<double> parts = lu(a);
  EXPECT_EQ(parts.sign, -1);
  EXPECT_EQ(parts.order, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(parts.determinant(), -2);
  const Matrix x = parts.solve(b);
  EXPECT_NEAR(x.at(0, 0), 1, 1e-15);
  EXPECT_NEAR(x.at(1, 0), 2, 1e-15);
  EXPECT_TRUE(lu(Matrix(2, 2)).singular());
}

TEST(Dense, CholeskyInverseAndTriangles) {
  const Matrix a = positive(numbers(4, 4));
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

TEST(Dense, ComplexMatricesHaveTheSame) {
  const ComplexMatrix a = positive(complex_numbers(4));
  ComplexMatrix root = a, inverse = a;
  EXPECT_EQ(cholesky(root), -1);
  EXPECT_LT(gap(product(root, root.transposed()), a), 1e-12);
  EXPECT_TRUE(invert(inverse));
  EXPECT_LT(gap(product(inverse, a), ComplexMatrix::identity(4)), 1e-12);
  ComplexMatrix x = complex_numbers(4);
  solve(root, {false, true, false}, x);
  EXPECT_LT(gap(product(root.transposed(), x), complex_numbers(4)), 1e-12);
}

TEST(Dense, RootsAndLogarithmsUndoTheirFunctions) {
  const ComplexMatrix a = positive(complex_numbers(3));
  ComplexMatrix root = a;
  ASSERT_TRUE(square_root(root));
  EXPECT_LT(gap(product(root, root), a), 1e-10);
  ComplexMatrix log = a, half = root;
  ASSERT_TRUE(logarithm(log));
  ASSERT_TRUE(logarithm(half));
  for (int64_t i = 0; i < half.count(); ++i) half.data()[i] *= 2;
  EXPECT_LT(gap(half, log), 1e-9);  // that of the root is half of it
  ComplexMatrix none(2, 2);
  EXPECT_FALSE(square_root(none));
  EXPECT_FALSE(logarithm(none));
}

TEST(Dense, QrGivesTheMatrixBackAndRightAngles) {
  for (const auto& [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}, {1, 1}, {3, 0}}) {
    for (bool complete : {false, true}) {
      const Matrix a = numbers(m, n);
      const Qr parts = qr(a, complete);
      EXPECT_LT(gap(product(parts.q, parts.r), a), 1e-12) << m << " " << n;
      EXPECT_LT(gap(product(parts.q.transposed(), parts.q), Matrix::identity(parts.q.columns())),
                1e-12);
    }
  }
  Matrix positive_first(2, 1);
  positive_first.at(0, 0) = 3;
  positive_first.at(1, 0) = 4;
  EXPECT_NEAR(qr(positive_first, false).r.at(0, 0), -5, 1e-14);  // against the sign of the first
}

TEST(Dense, SvdGivesTheMatrixBackWithTheLargestValueFirst) {
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
      EXPECT_LT(gap(product(parts.u.transposed(), parts.u), Matrix::identity(parts.u.columns())),
                1e-12);
    }
  }
}

TEST(Dense, SvdOfAMatrixWithoutFullRankHasAWholeBasis) {
  Matrix a(3, 3);
  a.at(0, 0) = 2;
  const Svd parts = svd(a, false);
  EXPECT_EQ(parts.values, (std::vector<double>{2, 0, 0}));
  EXPECT_LT(gap(product(parts.u.transposed(), parts.u), Matrix::identity(3)), 1e-12);
}

TEST(Dense, EigenvectorsGiveTheMatrixBackWithTheSmallestValueFirst) {
  const Matrix a = positive(numbers(5, 5));
  const Eigen parts = symmetric_eigen(a);
  Matrix middle(5, 5);
  for (size_t i = 0; i < 5; ++i) {
    middle.at(static_cast<int64_t>(i), static_cast<int64_t>(i)) = parts.values[i];
    if (i > 0) {
      EXPECT_LE(parts.values[i - 1], parts.values[i]);
    }
  }
  EXPECT_LT(gap(product(product(parts.vectors, middle), parts.vectors.transposed()), a), 1e-12);
}

TEST(Solvers, InvertASolveAndTellShapes) {
  const auto node = [](const char* name) { return TestNode(name, 1, "anynpu"); };
  const auto inverse = node("Inverse").floats({2, 2}, {2, 0, 0, 4}).evaluate();
  EXPECT_EQ(inverse[0], 0.5);
  EXPECT_EQ(inverse[3], 0.25);
  const auto x =
      node("TriangularSolve").floats({2, 1}, {4, 5}).floats({2, 2}, {2, 9, 1, 1}).evaluate();
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1], 3);
  EXPECT_EQ(node("MatrixSolve").shape({3, 2}).shape({5, 3, 3}).shape_text(), "5x3x2");
  EXPECT_EQ(node("SymmetricEigen").shape({5, 3, 3}).shape_text(), "5x3");
  EXPECT_NE(node("Inverse").shape({2, 3}).shape_text().find("expected square"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::linalg
