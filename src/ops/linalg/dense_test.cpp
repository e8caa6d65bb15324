// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/dense.h"

#include <cmath>
#include <vector>

#include "ops/test_node.h"

namespace anynpu::ops::linalg {
namespace {

TEST(Dense, LuSolvesWhatItDecomposed) {
  std::vector<double> m = {0, 2, 1, 1};
  int64_t order[2];
  EXPECT_EQ(decompose_lu(m.data(), 2, order), -1);
  EXPECT_EQ(order[0], 1);
  std::vector<double> x = {3, 4};  // the second row first
  solve_lu(m.data(), 2, x.data(), 1);
  EXPECT_NEAR(x[0], 1, 1e-15);
  EXPECT_NEAR(x[1], 2, 1e-15);
}

TEST(Dense, CholeskyRefusesAMatrixThatIsNotPositive) {
  std::vector<double> good = {4, 2, 2, 5}, bad = {1, 2, 2, 1};
  EXPECT_TRUE(decompose_cholesky(good.data(), 2));
  EXPECT_EQ(good, (std::vector<double>{2, 0, 1, 2}));
  EXPECT_FALSE(decompose_cholesky(bad.data(), 2));
}

TEST(Dense, QrGivesBackTheMatrix) {
  const std::vector<double> m = {3, 1, 1, 2, 0.5, -1};
  std::vector<double> r = m, q(9);
  decompose_qr(r.data(), 3, 2, q.data());
  EXPECT_LT(r[0], 0);  // against the sign of the first element
  EXPECT_EQ(r[2], 0);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += q[i * 3 + k] * r[k * 2 + j];
      EXPECT_NEAR(sum, m[i * 2 + j], 1e-14);
    }
  }
}

TEST(Dense, ValuesOfKnownMatrices) {
  std::vector<double> symmetric = {2, 1, 1, 2}, other = {3, 0, 0, -4, 0, 0};
  double values[2];
  eigenvalues(symmetric.data(), 2, values);
  EXPECT_NEAR(values[0], 1, 1e-14);
  EXPECT_NEAR(values[1], 3, 1e-14);
  singular_values(other.data(), 3, 2, values);
  EXPECT_NEAR(values[0], 4, 1e-14);
  EXPECT_NEAR(values[1], 3, 1e-14);
}

TEST(Solvers, InvertASolveAndTellShapes) {
  const auto inverse = TestNode("MatrixInverse", 1, "anynpu").floats({2, 2}, {2, 0, 0, 4}).evaluate();
  EXPECT_EQ(inverse[0], 0.5);
  EXPECT_EQ(inverse[3], 0.25);
  const auto x = TestNode("MatrixTriangularSolve", 1, "anynpu")
                     .floats({2, 2}, {2, 9, 1, 1})
                     .floats({2, 1}, {4, 5})
                     .evaluate();
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1], 3);
  EXPECT_EQ(TestNode("MatrixSolve", 1, "anynpu").shape({5, 3, 3}).shape({3, 2}).shape_text(), "5x3x2");
  EXPECT_NE(TestNode("MatrixInverse", 1, "anynpu").shape({2, 3}).shape_text().find("expected square"),
            std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::linalg
