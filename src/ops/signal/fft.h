// SPDX-License-Identifier: Apache-2.0
// The fast Fourier transform of any length, in double, of two sequences at a time (one in each lane
// of a register). Lengths with small prime factors use mixed radix, the others a convolution of a
// power of two (Bluestein). Immutable after construction; any number of threads may call run, each
// with its own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace anynpu::ops::signal {

class Fft {
 public:
  typedef double Pair __attribute__((vector_size(16)));
  struct Point {
    Pair re, im;
  };
  static constexpr int kLanes = 2;

  // Roots e^(-2 pi i / length), or e^(2 pi i / length) when inverse; nothing is divided by length.
  Fft(int64_t length, bool inverse);

  int64_t length() const { return length_; }
  // Points of memory that run needs besides those it transforms.
  int64_t scratch_points() const;
  // points[length()] become their transform.
  void run(Point* points, Point* scratch) const;

 private:
  struct Root {
    double re, im;
  };
  static std::vector<Root> roots(int64_t count, bool inverse);
  template <int radix>
  void pass(int64_t of, int64_t stride, const Point* x, Point* y) const;
  void odd_pass(int64_t radix, int64_t of, int64_t stride, const Point* x, Point* y) const;
  void run_bluestein(Point* points, Point* scratch) const;

  int64_t length_;
  bool inverse_;
  std::vector<int64_t> factors_;  // empty: Bluestein, or a length of 1
  std::vector<Root> roots_;       // of length_
  std::unique_ptr<Fft> inner_;    // of Bluestein: a power of two, not inverse
  std::vector<Root> chirp_, filter_;
};

}  // namespace anynpu::ops::signal
