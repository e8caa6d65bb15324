// SPDX-License-Identifier: Apache-2.0
// Decompositions by reflections and rotations: Qr, Svd, eigenvectors.
#include <cmath>
#include <numeric>
#include <utility>

#include "ops/linalg/dense.h"

namespace anynpu::ops::linalg {

namespace {

// A reflection I - scale * v * v' that makes column `k` of `a` zero below the diagonal. v lies in
// `v` from row k on. Scale 0: nothing to do.
double reflection(const Matrix& a, int64_t k, std::vector<double>& v) {
  double below = 0;
  for (int64_t i = k + 1; i < a.rows(); ++i) below += a.at(i, k) * a.at(i, k);
  if (below == 0) return 0;
  const double alpha = a.at(k, k);
  const double beta = -std::copysign(std::sqrt(alpha * alpha + below), alpha);
  v[static_cast<size_t>(k)] = 1;
  for (int64_t i = k + 1; i < a.rows(); ++i)
    v[static_cast<size_t>(i)] = a.at(i, k) / (alpha - beta);
  return (beta - alpha) / beta;
}

void reflect(Matrix& a, int64_t k, const std::vector<double>& v, double scale) {
  for (int64_t c = 0; c < a.columns(); ++c) {
    double sum = 0;
    for (int64_t i = k; i < a.rows(); ++i) sum += v[static_cast<size_t>(i)] * a.at(i, c);
    for (int64_t i = k; i < a.rows(); ++i) a.at(i, c) -= scale * v[static_cast<size_t>(i)] * sum;
  }
}

}  // namespace

Qr qr(Matrix a, bool complete) {
  const int64_t m = a.rows(), n = a.columns(), steps = std::min(m, n);
  const int64_t k = complete ? m : steps;
  std::vector<std::vector<double>> vectors;
  std::vector<double> scales;
  for (int64_t i = 0; i < steps; ++i) {
    std::vector<double> v(static_cast<size_t>(m));
    const double scale = reflection(a, i, v);
    if (scale != 0) reflect(a, i, v, scale);
    vectors.push_back(std::move(v));
    scales.push_back(scale);
  }
  Matrix q = Matrix::identity(m);
  for (int64_t i = steps - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    if (scales[at] != 0) reflect(q, i, vectors[at], scales[at]);
  }
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < std::min(r, n); ++c) a.at(r, c) = 0;
  }
  return {q.part(m, k), a.part(k, n)};
}

namespace {

// Turns two columns of `a` (and of `v`) so that those of `a` stand at right angles. False: they
// did.
bool turn(Matrix& a, Matrix& v, int64_t p, int64_t q) {
  double pp = 0, qq = 0, pq = 0;
  for (int64_t i = 0; i < a.rows(); ++i) {
    pp += a.at(i, p) * a.at(i, p);
    qq += a.at(i, q) * a.at(i, q);
    pq += a.at(i, p) * a.at(i, q);
  }
  if (std::fabs(pq) <= 1e-16 * std::sqrt(pp * qq) || pq == 0) return false;
  const double tau = (qq - pp) / (2 * pq);
  const double t = std::copysign(1.0, tau) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
  const double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (Matrix* m : {&a, &v}) {
    for (int64_t i = 0; i < m->rows(); ++i) {
      const double x = m->at(i, p), y = m->at(i, q);
      m->at(i, p) = c * x - s * y;
      m->at(i, q) = s * x + c * y;
    }
  }
  return true;
}

// More columns at right angles to those before `from`, of length 1.
void complete_basis(Matrix& u, int64_t from) {
  int64_t unit = 0;
  for (int64_t c = from; c < u.columns(); ++c) {
    for (double length = 0; length < 0.1 && unit < u.rows(); ++unit) {
      for (int64_t i = 0; i < u.rows(); ++i) u.at(i, c) = i == unit ? 1 : 0;
      for (int pass = 0; pass < 2; ++pass) {
        for (int64_t k = 0; k < c; ++k) {
          double along = 0;
          for (int64_t i = 0; i < u.rows(); ++i) along += u.at(i, k) * u.at(i, c);
          for (int64_t i = 0; i < u.rows(); ++i) u.at(i, c) -= along * u.at(i, k);
        }
      }
      length = 0;
      for (int64_t i = 0; i < u.rows(); ++i) length += u.at(i, c) * u.at(i, c);
      length = std::sqrt(length);
      if (length < 0.1) continue;
      for (int64_t i = 0; i < u.rows(); ++i) u.at(i, c) /= length;
    }
  }
}

}  // namespace

Svd svd(const Matrix& given, bool full) {
  if (given.rows() < given.columns()) {
    Svd turned = svd(given.transposed(), full);
    return {std::move(turned.v), std::move(turned.values), std::move(turned.u)};
  }
  Matrix a = given;
  const int64_t m = a.rows(), n = a.columns();
  Matrix v = Matrix::identity(n);
  constexpr int kMostSweeps = 60;
  for (int sweep = 0, turned = 1; sweep < kMostSweeps && turned; ++sweep) {
    turned = 0;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) turned |= turn(a, v, p, q) ? 1 : 0;
    }
  }
  std::vector<double> lengths(static_cast<size_t>(n));
  for (int64_t c = 0; c < n; ++c) {
    double sum = 0;
    for (int64_t i = 0; i < m; ++i) sum += a.at(i, c) * a.at(i, c);
    lengths[static_cast<size_t>(c)] = std::sqrt(sum);
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    return lengths[static_cast<size_t>(x)] > lengths[static_cast<size_t>(y)];
  });
  Svd result{Matrix(m, full ? m : n), {}, Matrix(n, n)};
  int64_t found = 0;
  const double least = n ? lengths[static_cast<size_t>(order[0])] * 1e-15 : 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t c = order[static_cast<size_t>(k)];
    const double length = lengths[static_cast<size_t>(c)];
    result.values.push_back(length);
    for (int64_t i = 0; i < n; ++i) result.v.at(i, k) = v.at(i, c);
    if (length <= least) continue;
    for (int64_t i = 0; i < m; ++i) result.u.at(i, k) = a.at(i, c) / length;
    found = k + 1;
  }
  complete_basis(result.u, found);
  return result;
}

// Rotations that make pairs of elements beside the diagonal zero, until all are.
Eigen symmetric_eigen(Matrix a) {
  constexpr int kMostSweeps = 60;
  const int64_t n = a.rows();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) a.at(i, j) = a.at(j, i);
  }
  Matrix vectors = Matrix::identity(n);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < a.count(); ++i) {
      all += a.data()[i] * a.data()[i];
      if (i % (n + 1) != 0) off += a.data()[i] * a.data()[i];
    }
    if (!(off > all * 1e-32)) break;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (a.at(p, q) == 0) continue;
        const double theta = (a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q));
        const double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        const auto rotate = [&](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (int64_t k = 0; k < n; ++k) rotate(a.at(k, p), a.at(k, q));
        for (int64_t k = 0; k < n; ++k) rotate(a.at(p, k), a.at(q, k));
        for (int64_t k = 0; k < n; ++k) rotate(vectors.at(k, p), vectors.at(k, q));
      }
    }
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t x, int64_t y) { return a.at(x, x) < a.at(y, y); });
  Eigen made{{}, Matrix(n, n)};
  for (int64_t k = 0; k < n; ++k) {
    const int64_t from = order[static_cast<size_t>(k)];
    made.values.push_back(a.at(from, from));
    for (int64_t i = 0; i < n; ++i) made.vectors.at(i, k) = vectors.at(i, from);
  }
  return made;
}

}  // namespace anynpu::ops::linalg
