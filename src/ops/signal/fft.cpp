// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/fft.h"

#include <array>
#include <cmath>
#include <utility>

namespace anynpu::ops::signal {

namespace {

constexpr int64_t kMostRadix = 31;  // the largest prime factor that is summed by definition

using Point = Fft::Point;

inline Point operator+(const Point& a, const Point& b) { return {a.re + b.re, a.im + b.im}; }
inline Point operator-(const Point& a, const Point& b) { return {a.re - b.re, a.im - b.im}; }
template <typename Root>
inline Point times(const Point& a, const Root& w) {
  return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}

// Factors in the order of passes: fours, a two, odd primes. Empty when one is too large.
std::vector<int64_t> factors_of(int64_t length) {
  std::vector<int64_t> factors;
  while (length % 4 == 0) factors.push_back(4), length /= 4;
  if (length % 2 == 0) factors.push_back(2), length /= 2;
  for (int64_t prime = 3; prime <= kMostRadix; prime += 2) {
    while (length % prime == 0) factors.push_back(prime), length /= prime;
  }
  if (length > 1) factors.clear();
  return factors;
}

}  // namespace

std::vector<Fft::Root> Fft::roots(int64_t count, bool inverse) {
  std::vector<Root> all(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const double angle =
        (inverse ? 2 : -2) * M_PI * (static_cast<double>(i) / static_cast<double>(count));
    all[static_cast<size_t>(i)] = {std::cos(angle), std::sin(angle)};
  }
  return all;
}

Fft::Fft(int64_t length, bool inverse)
    : length_(length), inverse_(inverse), factors_(factors_of(length)) {
  if (!factors_.empty() || length == 1) {
    roots_ = roots(length, inverse);
    return;
  }
  // X[k] = c[k] * sum over i of (x[i] * c[i]) * conj(c[k - i]), where c[i] is root i * i / 2.
  int64_t size = 4;
  while (size < 2 * length - 1) size *= 2;
  inner_ = std::make_unique<Fft>(size, false);
  const std::vector<Root> halves = roots(2 * length, inverse);
  std::vector<Point> points(static_cast<size_t>(size), Point{}),
      scratch(static_cast<size_t>(inner_->scratch_points()));
  chirp_.resize(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const Root c = halves[static_cast<size_t>(i * i % (2 * length))];
    chirp_[static_cast<size_t>(i)] = c;
    const Point conjugate{Pair{} + c.re, Pair{} - c.im};
    points[static_cast<size_t>(i)] = conjugate;
    points[static_cast<size_t>((size - i) % size)] = conjugate;
  }
  inner_->run(points.data(), scratch.data());
  const double scale = 1 / static_cast<double>(size);  // of the way back
  for (const Point& point : points) filter_.push_back({point.re[0] * scale, point.im[0] * scale});
}

int64_t Fft::scratch_points() const {
  return inner_ ? inner_->length_ + inner_->scratch_points() : length_;
}

// One pass of Stockham's order: `of` points remain to be split by `radix`, each `stride` times.
template <int radix>
void Fft::pass(int64_t of, int64_t stride, const Point* x, Point* y) const {
  const int64_t m = of / radix;
  const double turn = inverse_ ? 1 : -1;
  for (int64_t p = 0; p < m; ++p) {
    const Root* w = roots_.data();
    const Root w1 = w[p * stride];
    const Root w2 = radix == 4 ? w[2 * p * stride] : w1, w3 = radix == 4 ? w[3 * p * stride] : w1;
    for (int64_t q = 0; q < stride; ++q) {
      const Point* a = x + q + stride * p;
      Point* b = y + q + stride * radix * p;
      if constexpr (radix == 2) {
        const Point a0 = a[0], a1 = a[stride * m];
        b[0] = a0 + a1;
        b[stride] = times(a0 - a1, w1);
      } else {
        const Point a0 = a[0], a1 = a[stride * m], a2 = a[stride * m * 2], a3 = a[stride * m * 3];
        const Point even = a0 + a2, odd = a1 + a3, rest = a0 - a2, cross = a1 - a3;
        const Point turned{-turn * cross.im, turn * cross.re};
        b[0] = even + odd;
        b[stride] = times(rest + turned, w1);
        b[stride * 2] = times(even - odd, w2);
        b[stride * 3] = times(rest - turned, w3);
      }
    }
  }
}

// A root and its conjugate share their products: sums and differences of points j and radix - j.
void Fft::odd_pass(int64_t radix, int64_t of, int64_t stride, const Point* x, Point* y) const {
  const int64_t m = of / radix, half = radix / 2;
  std::array<Root, kMostRadix> unit, w;
  for (int64_t j = 0; j < radix; ++j) {
    unit[static_cast<size_t>(j)] = roots_[static_cast<size_t>(j * (length_ / radix))];
  }
  std::array<Point, kMostRadix / 2 + 1> sum, difference;
  for (int64_t p = 0; p < m; ++p) {
    for (int64_t k = 0; k < radix; ++k) {
      w[static_cast<size_t>(k)] = roots_[static_cast<size_t>(p * k * stride)];
    }
    for (int64_t q = 0; q < stride; ++q) {
      const Point* a = x + q + stride * p;
      Point* b = y + q + stride * radix * p;
      const Point first = a[0];
      Point all = first;
      for (int64_t j = 1; j <= half; ++j) {
        const Point u = a[stride * m * j], v = a[stride * m * (radix - j)];
        sum[static_cast<size_t>(j)] = u + v;
        difference[static_cast<size_t>(j)] = u - v;
        all = all + sum[static_cast<size_t>(j)];
      }
      b[0] = all;
      for (int64_t k = 1; k <= half; ++k) {
        Point real = first, imaginary{};
        for (int64_t j = 1, turn = k; j <= half; ++j) {
          const Root root = unit[static_cast<size_t>(turn)];
          const Point &u = sum[static_cast<size_t>(j)], &v = difference[static_cast<size_t>(j)];
          real.re += u.re * root.re;
          real.im += u.im * root.re;
          imaginary.re -= v.im * root.im;
          imaginary.im += v.re * root.im;
          turn += k;
          if (turn >= radix) turn -= radix;
        }
        b[stride * k] = times(real + imaginary, w[static_cast<size_t>(k)]);
        b[stride * (radix - k)] = times(real - imaginary, w[static_cast<size_t>(radix - k)]);
      }
    }
  }
}

void Fft::run(Point* points, Point* scratch) const {
  if (inner_) return run_bluestein(points, scratch);
  Point *x = points, *y = scratch;
  int64_t stride = 1;
  for (int64_t radix : factors_) {
    const int64_t of = length_ / stride;
    if (radix == 4) {
      pass<4>(of, stride, x, y);
    } else if (radix == 2) {
      pass<2>(of, stride, x, y);
    } else {
      odd_pass(radix, of, stride, x, y);
    }
    stride *= radix;
    std::swap(x, y);
  }
  if (x == points) return;
  for (int64_t i = 0; i < length_; ++i) points[i] = x[i];
}

void Fft::run_bluestein(Point* points, Point* scratch) const {
  const int64_t size = inner_->length_;
  Point* inner_scratch = scratch + size;
  for (int64_t i = 0; i < length_; ++i)
    scratch[i] = times(points[i], chirp_[static_cast<size_t>(i)]);
  for (int64_t i = length_; i < size; ++i) scratch[i] = Point{};
  inner_->run(scratch, inner_scratch);
  // With real and imaginary parts exchanged before and behind it, a transform is the inverse one.
  for (int64_t i = 0; i < size; ++i) {
    const Point product = times(scratch[i], filter_[static_cast<size_t>(i)]);
    scratch[i] = {product.im, product.re};
  }
  inner_->run(scratch, inner_scratch);
  for (int64_t i = 0; i < length_; ++i) {
    points[i] = times(Point{scratch[i].im, scratch[i].re}, chirp_[static_cast<size_t>(i)]);
  }
}

}  // namespace anynpu::ops::signal
