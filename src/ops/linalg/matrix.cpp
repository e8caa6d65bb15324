// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace anynpu::ops::linalg {

Matrix Matrix::identity(int64_t size) {
  Matrix made(size, size);
  for (int64_t i = 0; i < size; ++i) made.at(i, i) = 1;
  return made;
}

Matrix Matrix::transposed() const {
  Matrix turned(columns_, rows_);
  for (int64_t r = 0; r < rows_; ++r) {
    for (int64_t c = 0; c < columns_; ++c) turned.at(c, r) = at(r, c);
  }
  return turned;
}

Matrix Matrix::part(int64_t rows, int64_t columns) const {
  Matrix cut(rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) cut.at(r, c) = at(r, c);
  }
  return cut;
}

int64_t cholesky(Matrix& a) {
  const int64_t n = a.rows();
  for (int64_t j = 0; j < n; ++j) {
    double sum = a.at(j, j);
    for (int64_t k = 0; k < j; ++k) sum -= a.at(j, k) * a.at(j, k);
    if (!(sum > 0)) return j;
    const double root = std::sqrt(sum);
    a.at(j, j) = root;
    for (int64_t i = j + 1; i < n; ++i) {
      double value = a.at(i, j);
      for (int64_t k = 0; k < j; ++k) value -= a.at(i, k) * a.at(j, k);
      a.at(i, j) = value / root;
    }
    for (int64_t i = 0; i < j; ++i) a.at(i, j) = 0;
  }
  return -1;
}

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
  for (int64_t i = k + 1; i < a.rows(); ++i) v[static_cast<size_t>(i)] = a.at(i, k) / (alpha - beta);
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

// Turns two columns of `a` (and of `v`) so that those of `a` stand at right angles. False: they did.
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

void solve(const Matrix& a, Triangle triangle, Matrix& b) {
  const int64_t n = a.rows();
  const bool backwards = triangle.upper != triangle.transpose;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t r = backwards ? n - 1 - step : step;
    const double diagonal = triangle.unit ? 1 : a.at(r, r);
    for (int64_t c = 0; c < b.columns(); ++c) {
      double sum = b.at(r, c);
      for (int64_t k = backwards ? r + 1 : 0; k < (backwards ? n : r); ++k) {
        sum -= (triangle.transpose ? a.at(k, r) : a.at(r, k)) * b.at(k, c);
      }
      b.at(r, c) = sum / diagonal;
    }
  }
}

bool invert(Matrix& a) {
  const int64_t n = a.rows();
  Matrix made = Matrix::identity(n);
  for (int64_t c = 0; c < n; ++c) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; ++r) {
      if (std::fabs(a.at(r, c)) > std::fabs(a.at(pivot, c))) pivot = r;
    }
    if (a.at(pivot, c) == 0) return false;
    for (int64_t k = 0; k < n && pivot != c; ++k) {
      std::swap(a.at(c, k), a.at(pivot, k));
      std::swap(made.at(c, k), made.at(pivot, k));
    }
    const double scale = a.at(c, c);
    for (int64_t k = 0; k < n; ++k) a.at(c, k) /= scale, made.at(c, k) /= scale;
    for (int64_t r = 0; r < n; ++r) {
      const double factor = a.at(r, c);
      if (r == c || factor == 0) continue;
      for (int64_t k = 0; k < n; ++k) {
        a.at(r, k) -= factor * a.at(c, k);
        made.at(r, k) -= factor * made.at(c, k);
      }
    }
  }
  a = std::move(made);
  return true;
}

}  // namespace anynpu::ops::linalg
