// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/dense.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace anynpu::ops::linalg {

namespace {

constexpr int kMostSweeps = 60;

}  // namespace

int decompose_lu(double* m, int64_t n, int64_t* order) {
  int sign = 1;
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t c = 0; c < n; ++c) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; ++r) {
      if (std::fabs(m[r * n + c]) > std::fabs(m[pivot * n + c])) pivot = r;
    }
    if (pivot != c) {
      std::swap_ranges(m + c * n, m + (c + 1) * n, m + pivot * n);
      std::swap(order[c], order[pivot]);
      sign = -sign;
    }
    if (m[c * n + c] == 0) continue;
    for (int64_t r = c + 1; r < n; ++r) {
      const double factor = m[r * n + c] /= m[c * n + c];
      for (int64_t k = c + 1; k < n; ++k) m[r * n + k] -= factor * m[c * n + k];
    }
  }
  return sign;
}

void solve_lu(const double* lu, int64_t n, double* x, int64_t columns) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < i; ++k) {
      for (int64_t j = 0; j < columns; ++j) x[i * columns + j] -= lu[i * n + k] * x[k * columns + j];
    }
  }
  solve_triangular(lu, n, x, columns, false, false);
}

bool decompose_cholesky(double* m, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      double sum = m[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= m[i * n + k] * m[j * n + k];
      if (i == j) {
        if (!(sum > 0)) return false;
        m[j * n + j] = std::sqrt(sum);
      } else {
        m[i * n + j] = sum / m[j * n + j];
      }
    }
    for (int64_t k = j + 1; k < n; ++k) m[j * n + k] = 0;
  }
  return true;
}

void solve_triangular(const double* m, int64_t n, double* x, int64_t columns, bool lower,
                      bool adjoint) {
  const bool down = lower != adjoint;  // from the first row to the last
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = down ? step : n - 1 - step;
    for (int64_t before = 0; before < step; ++before) {
      const int64_t k = down ? before : n - 1 - before;
      const double factor = adjoint ? m[k * n + i] : m[i * n + k];
      for (int64_t j = 0; j < columns; ++j) x[i * columns + j] -= factor * x[k * columns + j];
    }
    for (int64_t j = 0; j < columns; ++j) x[i * columns + j] /= m[i * n + i];
  }
}

void decompose_qr(double* m, int64_t rows, int64_t columns, double* q) {
  for (int64_t i = 0; i < rows * rows; ++i) q[i] = i % (rows + 1) == 0 ? 1 : 0;
  for (int64_t c = 0; c < std::min(rows - 1, columns); ++c) {
    double norm = 0;
    for (int64_t r = c; r < rows; ++r) norm += m[r * columns + c] * m[r * columns + c];
    double below = norm - m[c * columns + c] * m[c * columns + c];
    if (below <= 0) continue;
    norm = std::sqrt(norm);
    const double first = m[c * columns + c];
    const double beta = first >= 0 ? -norm : norm, tau = (beta - first) / beta;
    // The reflection is 1 - tau v v', with v[c] = 1; v is kept below the diagonal for the moment.
    for (int64_t r = c + 1; r < rows; ++r) m[r * columns + c] /= first - beta;
    m[c * columns + c] = beta;
    const auto v = [&](int64_t r) { return r == c ? 1.0 : m[r * columns + c]; };
    for (int64_t k = c + 1; k < columns; ++k) {
      double sum = 0;
      for (int64_t r = c; r < rows; ++r) sum += v(r) * m[r * columns + k];
      for (int64_t r = c; r < rows; ++r) m[r * columns + k] -= tau * sum * v(r);
    }
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (int64_t r = c; r < rows; ++r) sum += q[i * rows + r] * v(r);
      for (int64_t r = c; r < rows; ++r) q[i * rows + r] -= tau * sum * v(r);
    }
    for (int64_t r = c + 1; r < rows; ++r) m[r * columns + c] = 0;
  }
}

void eigenvalues(double* m, int64_t n, double* values) {
  // Only the lower triangle counts.
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) m[i * n + j] = m[j * n + i];
  }
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        all += m[i * n + j] * m[i * n + j];
        if (i != j) off += m[i * n + j] * m[i * n + j];
      }
    }
    if (!(off > all * 1e-32)) break;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (m[p * n + q] == 0) continue;
        const double theta = (m[q * n + q] - m[p * n + p]) / (2 * m[p * n + q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int64_t k = 0; k < n; ++k) {
          const double a = m[k * n + p], b = m[k * n + q];
          m[k * n + p] = c * a - s * b;
          m[k * n + q] = s * a + c * b;
        }
        for (int64_t k = 0; k < n; ++k) {
          const double a = m[p * n + k], b = m[q * n + k];
          m[p * n + k] = c * a - s * b;
          m[q * n + k] = s * a + c * b;
        }
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) values[i] = m[i * n + i];
  std::sort(values, values + n);
}

// One-sided rotations until all columns stand at right angles; their lengths are the values.
void singular_values(double* m, int64_t rows, int64_t columns, double* values) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < columns; ++p) {
      for (int64_t q = p + 1; q < columns; ++q) {
        double alpha = 0, beta = 0, gamma = 0;
        for (int64_t r = 0; r < rows; ++r) {
          const double a = m[r * columns + p], b = m[r * columns + q];
          alpha += a * a;
          beta += b * b;
          gamma += a * b;
        }
        if (!(std::fabs(gamma) > 1e-15 * std::sqrt(alpha * beta)) || gamma == 0) continue;
        turned = true;
        const double zeta = (beta - alpha) / (2 * gamma);
        const double t = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (int64_t r = 0; r < rows; ++r) {
          const double a = m[r * columns + p], b = m[r * columns + q];
          m[r * columns + p] = c * a - s * b;
          m[r * columns + q] = s * a + c * b;
        }
      }
    }
    if (!turned) break;
  }
  for (int64_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += m[r * columns + c] * m[r * columns + c];
    values[c] = std::sqrt(sum);
  }
  std::sort(values, values + columns, std::greater<>());
}

}  // namespace anynpu::ops::linalg
