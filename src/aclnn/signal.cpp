// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows and of windows that move over them.
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace signal {

namespace {

// The last axis, of two, as parts of complex numbers or as it is.
void write(Recipe& r, Value pairs) {
  const Shape shape = r.shape(pairs);
  if (!is_complex(r.dtype("out"))) return r.out("out", r.reshape(pairs, r.shape("out")));
  const auto axis = static_cast<int64_t>(shape.size()) - 1;
  const Shape one(shape.begin(), shape.end() - 1);
  const Value re = r.reshape(r.slice(pairs, axis, 0, 1), one);
  const Value im = r.reshape(r.slice(pairs, axis, 1, 2), one);
  r.out("out", r.reshape(r.op("ToComplex", {re, im}), r.shape("out")));
}

Value scaled(Recipe& r, Value x, double factor) {
  return factor == 1 ? x : r.op("Mul", {x, r.constant(r.dtype(x), factor)});
}

// Of real numbers, along the last axis: norm 1 backward, 2 forward, 3 orthonormal.
void rfft(Recipe& r) {
  const DType type = computed_in(floating(r.dtype("self")));
  const int64_t n = r.integer("n"), norm = r.integer("norm");
  Shape shape = r.shape("self");
  const auto axis = static_cast<int64_t>(shape.size()) - 1;
  if (axis < 0 || r.axis("dim", shape.size()) != axis || n < 1) {
    refuse(
        "self has the shape {}, dim is {} and n is {}; expected the last axis and 1 or more points",
        to_string(shape), r.integer("dim"), n);
  }
  shape.push_back(1);
  const Value x = r.reshape(r.cast(r.in("self"), type), shape);
  const Value made =
      r.op("DFT", {x, r.constant_of({}, {n}), r.constant_of({}, {axis})}, {{"onesided", 1}});
  const auto points = static_cast<double>(n);
  write(r, scaled(r, made, norm == 2 ? 1 / points : norm == 3 ? 1 / std::sqrt(points) : 1));
}

// The window as long as a frame: in its middle, zeros around.
Value window(Recipe& r, int64_t frame, int64_t length, DType type) {
  const Value w = r.given("windowOptional") ? r.cast(r.in("windowOptional"), type)
                                            : r.filled(type, {length}, 1);
  if (r.shape(w) != Shape{length}) {
    refuse("windowOptional has the shape {} and winLength is {}; expected one number a point",
           to_string(r.shape(w)), length);
  }
  if (length == frame) return w;
  const int64_t left = (frame - length) / 2;
  return r.op("Concat", {r.filled(type, {left}, 0), w, r.filled(type, {frame - length - left}, 0)},
              {{"axis", 0}});
}

// [L] or [B, L] to [B, bins, frames] complex numbers, or pairs in a last axis.
void stft(Recipe& r) {
  const bool pairs = is_complex(r.dtype("self"));
  const DType type =
      r.dtype("self") == DType::f64 || r.dtype("self") == DType::c128 ? DType::f64 : DType::f32;
  const int64_t frame = r.integer("nFft"), step = r.integer("hopLength"),
                length = r.integer("winLength");
  const Shape shape = r.shape("self");
  if (shape.empty() || shape.size() > 2 || frame < 1 || step < 1 || length < 1 || length > frame ||
      frame > shape.back()) {
    refuse(
        "self has the shape {}, nFft, hopLength and winLength are {}, {} and {}; expected [B, L], "
        "nFft "
        "within L, winLength within nFft",
        to_string(shape), frame, step, length);
  }
  const int64_t batch = shape.size() == 2 ? shape[0] : 1;
  Value x = r.in("self");
  x = pairs ? r.op("ComplexParts", {x}) : r.cast(x, type);
  x = r.reshape(x, {batch, shape.back(), pairs ? 2 : 1});
  const Value made = r.op("STFT", {x, r.constant_of({}, {step}), window(r, frame, length, type)},
                          {{"onesided", r.flag("onesided")}});
  const double factor = r.flag("normalized") ? 1 / std::sqrt(static_cast<double>(frame)) : 1;
  write(r, scaled(r, r.transpose(made, {0, 2, 1, 3}), factor));
}

const Row kRows[] = {
    {"aclRfft1D", rfft},
    {"aclStft", stft},
};

}  // namespace

}  // namespace signal

std::span<const Row> signal_rows() { return signal::kRows; }

}  // namespace anynpu::aclnn
