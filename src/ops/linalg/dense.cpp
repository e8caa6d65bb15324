// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/dense.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace anynpu::ops::linalg {

namespace {

using Number = std::complex<double>;

double conjugate(double x) { return x; }
Number conjugate(const Number& x) { return std::conj(x); }
double real_part(double x) { return x; }
double real_part(const Number& x) { return x.real(); }

}  // namespace

template <typename T>
MatrixOf<T> MatrixOf<T>::transposed() const {
  MatrixOf turned(columns_, rows_);
  for (int64_t r = 0; r < rows_; ++r) {
    for (int64_t c = 0; c < columns_; ++c) turned.at(c, r) = conjugate(at(r, c));
  }
  return turned;
}

template <typename T>
MatrixOf<T> MatrixOf<T>::part(int64_t rows, int64_t columns) const {
  MatrixOf cut(rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) cut.at(r, c) = at(r, c);
  }
  return cut;
}

template <typename T>
MatrixOf<T> product(const MatrixOf<T>& a, const MatrixOf<T>& b) {
  MatrixOf<T> made(a.rows(), b.columns());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t k = 0; k < a.columns(); ++k) {
      for (int64_t j = 0; j < b.columns(); ++j) made.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return made;
}

template <typename T>
Lu<T> lu(MatrixOf<T> a) {
  const int64_t n = a.rows();
  Lu<T> made{MatrixOf<T>(0, 0), std::vector<int64_t>(static_cast<size_t>(n))};
  std::iota(made.order.begin(), made.order.end(), int64_t{0});
  for (int64_t c = 0; c < n; ++c) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; ++r) {
      if (std::abs(a.at(r, c)) > std::abs(a.at(pivot, c))) pivot = r;
    }
    if (pivot != c) {
      std::swap_ranges(&a.at(c, 0), &a.at(c, 0) + n, &a.at(pivot, 0));
      std::swap(made.order[static_cast<size_t>(c)], made.order[static_cast<size_t>(pivot)]);
      made.sign = -made.sign;
    }
    if (a.at(c, c) == T(0)) continue;
    for (int64_t r = c + 1; r < n; ++r) {
      const T factor = a.at(r, c) /= a.at(c, c);
      for (int64_t k = c + 1; k < n; ++k) a.at(r, k) -= factor * a.at(c, k);
    }
  }
  made.parts = std::move(a);
  return made;
}

template <typename T>
bool Lu<T>::singular() const {
  for (int64_t i = 0; i < parts.rows(); ++i) {
    if (parts.at(i, i) == T(0)) return true;
  }
  return false;
}

template <typename T>
T Lu<T>::determinant() const {
  T result = T(sign);
  for (int64_t i = 0; i < parts.rows(); ++i) result *= parts.at(i, i);
  return result;
}

template <typename T>
MatrixOf<T> Lu<T>::solve(const MatrixOf<T>& b) const {
  MatrixOf<T> x(b.rows(), b.columns());
  for (int64_t r = 0; r < b.rows(); ++r) {
    for (int64_t c = 0; c < b.columns(); ++c) x.at(r, c) = b.at(order[static_cast<size_t>(r)], c);
  }
  linalg::solve(parts, {.upper = false, .transpose = false, .unit = true}, x);
  linalg::solve(parts, {.upper = true, .transpose = false, .unit = false}, x);
  return x;
}

template <typename T>
bool invert(MatrixOf<T>& a) {
  const Lu<T> parts = lu(a);
  if (parts.singular()) return false;
  a = parts.solve(MatrixOf<T>::identity(a.rows()));
  return true;
}

template <typename T>
int64_t cholesky(MatrixOf<T>& a) {
  const int64_t n = a.rows();
  for (int64_t j = 0; j < n; ++j) {
    double sum = real_part(a.at(j, j));
    for (int64_t k = 0; k < j; ++k) sum -= std::norm(a.at(j, k));
    if (!(sum > 0)) return j;
    const double root = std::sqrt(sum);
    a.at(j, j) = T(root);
    for (int64_t i = j + 1; i < n; ++i) {
      T value = a.at(i, j);
      for (int64_t k = 0; k < j; ++k) value -= a.at(i, k) * conjugate(a.at(j, k));
      a.at(i, j) = value / root;
    }
    for (int64_t i = 0; i < j; ++i) a.at(i, j) = T(0);
  }
  return -1;
}

template <typename T>
void solve(const MatrixOf<T>& a, Triangle triangle, MatrixOf<T>& b) {
  const int64_t n = a.rows();
  const bool backwards = triangle.upper != triangle.transpose;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t r = backwards ? n - 1 - step : step;
    const T own = triangle.transpose ? conjugate(a.at(r, r)) : a.at(r, r);
    for (int64_t c = 0; c < b.columns(); ++c) {
      T sum = b.at(r, c);
      for (int64_t k = backwards ? r + 1 : 0; k < (backwards ? n : r); ++k)
        sum -= (triangle.transpose ? conjugate(a.at(k, r)) : a.at(r, k)) * b.at(k, c);
      b.at(r, c) = triangle.unit ? sum : sum / own;
    }
  }
}

namespace {

double largest_difference(const ComplexMatrix& a, const ComplexMatrix& b) {
  double largest = 0;
  for (int64_t i = 0; i < a.count(); ++i)
    largest = std::max(largest, std::abs(a.data()[i] - b.data()[i]));
  return largest;
}

ComplexMatrix mean(const ComplexMatrix& a, const ComplexMatrix& b) {
  ComplexMatrix made = a;
  for (int64_t i = 0; i < a.count(); ++i) made.data()[i] = (a.data()[i] + b.data()[i]) * 0.5;
  return made;
}

}  // namespace

// The iteration of Denman and Beavers: y goes to the root, z to its inverse.
bool square_root(ComplexMatrix& a) {
  constexpr int kMostSteps = 40;  // it doubles the digits in each
  ComplexMatrix y = a, z = ComplexMatrix::identity(a.rows());
  for (int step = 0; step < kMostSteps; ++step) {
    ComplexMatrix of_y = y, of_z = z;
    if (!invert(of_y) || !invert(of_z)) return false;
    ComplexMatrix next = mean(y, of_z);
    z = mean(z, of_y);
    const double change = largest_difference(next, y);
    y = std::move(next);
    if (change <= 1e-14 * (1 + largest_difference(y, ComplexMatrix(y.rows(), y.columns())))) break;
    if (!std::isfinite(change)) return false;
  }
  if (!(largest_difference(product(y, y), a) <=
        1e-6 * (1 + largest_difference(a, ComplexMatrix(a.rows(), a.columns())))))
    return false;
  a = std::move(y);
  return true;
}

// Square roots until the matrix is near the identity, then twice the series of the inverse
// hyperbolic tangent of (a - 1) / (a + 1).
bool logarithm(ComplexMatrix& a) {
  const int64_t n = a.rows();
  const ComplexMatrix one = ComplexMatrix::identity(n);
  double factor = 2;
  for (int roots = 0; largest_difference(a, one) > 0.1; ++roots, factor *= 2) {
    if (roots > 60 || !square_root(a)) return false;
  }
  ComplexMatrix above = a, below = a;
  for (int64_t i = 0; i < n; ++i) {
    above.at(i, i) -= 1;
    below.at(i, i) += 1;
  }
  const ComplexMatrix z = lu(below).solve(above), square = product(z, z);
  ComplexMatrix power = z, sum = z;
  for (int k = 3; k < 40; k += 2) {
    power = product(power, square);
    for (int64_t i = 0; i < sum.count(); ++i)
      sum.data()[i] += power.data()[i] / static_cast<double>(k);
  }
  for (int64_t i = 0; i < sum.count(); ++i) sum.data()[i] *= factor;
  a = std::move(sum);
  return true;
}

template class MatrixOf<double>;
template class MatrixOf<Number>;
template struct Lu<double>;
template struct Lu<Number>;
template Matrix product(const Matrix&, const Matrix&);
template ComplexMatrix product(const ComplexMatrix&, const ComplexMatrix&);
template Lu<double> lu(Matrix);
template Lu<Number> lu(ComplexMatrix);
template bool invert(Matrix&);
template bool invert(ComplexMatrix&);
template int64_t cholesky(Matrix&);
template int64_t cholesky(ComplexMatrix&);
template void solve(const Matrix&, Triangle, Matrix&);
template void solve(const ComplexMatrix&, Triangle, ComplexMatrix&);

}  // namespace anynpu::ops::linalg
