// SPDX-License-Identifier: Apache-2.0
// Fourier transforms as MindSpore asks for them: FFT, FFT2 and FFTN, with R of real numbers, H of
// half a spectrum to real numbers and I for the inverse. Inputs are the tensor, lengths, axes and
// the way of scaling.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/singleop/lower.h"
#include "ops/dtype_set.h"
#include "tensor/onnx_type.h"

namespace anynpu::singleop {

namespace {

enum Scaling : int64_t { kBackward = 0, kForward = 1, kOrthonormal = 2 };

struct Transform {
  bool to_real = false, of_real = false;  // H and IR; R and IH
  bool inverse = false;                   // divides by the number of points, unless told otherwise
  bool mirrored = false;                  // H and IH: the exponent has the other sign
};

// "IHFFT2": inverse, H, of two axes.
Transform transform_named(std::string_view name) {
  Transform t;
  if (name.starts_with("I")) t.inverse = true, name.remove_prefix(1);
  const bool real = name.starts_with("R"), half = name.starts_with("H");
  t.of_real = (real && !t.inverse) || (half && t.inverse);
  t.to_real = (real && t.inverse) || (half && !t.inverse);
  t.mirrored = half;
  return t;
}

// Real or complex numbers as parts in a last axis of two.
ValueId parts_of(Builder& b, ValueId x, DType part) {
  if (!b.ok()) return x;
  if (ops::kComplex.has(b.dtype(x))) {
    return b.cast(b.node("anynpu.BitCast", 1, {x}, {{"to", cast_number(ops::part_of(b.dtype(x)))}}),
                  part);
  }
  const ValueId re = b.cast(x, part);
  const ValueId one = b.node("Unsqueeze", 13, {re, b.list({b.rank(re)})});
  Shape shape = b.shape(one);
  return b.node("Concat", 13, {one, b.filled(part, std::move(shape), 0)}, {{"axis", int64_t{-1}}});
}

ValueId complex_of(Builder& b, ValueId parts) {
  const DType type = b.dtype(parts) == DType::f64 ? DType::c128 : DType::c64;
  return b.node("anynpu.BitCast", 1, {parts}, {{"to", cast_number(type)}});
}

ValueId dft(Builder& b, ValueId x, int64_t axis, int64_t length, bool inverse, bool half) {
  return b.node("DFT", 20, {x, b.whole(DType::i64, length), b.whole(DType::i64, axis)},
                {{"inverse", int64_t{inverse}}, {"onesided", int64_t{half}}});
}

// The first `length` elements of an axis, with zeros behind where there are fewer.
ValueId fitted(Builder& b, ValueId x, int64_t axis, int64_t length) {
  if (!b.ok()) return x;
  const auto rank = static_cast<size_t>(b.rank(x));
  const int64_t extent = b.shape(x)[static_cast<size_t>(axis)];
  if (extent == length) return x;
  if (extent > length)
    return b.node("Slice", 13, {x, b.list({0}), b.list({length}), b.list({axis})});
  std::vector<int64_t> pads(2 * rank, 0);
  pads[rank + static_cast<size_t>(axis)] = length - extent;
  return b.node("Pad", 13, {x, b.list(pads)});
}

ValueId conjugate(Builder& b, ValueId parts) {
  return mul(b, parts, b.cast(b.table({2}, {1, -1}), b.dtype(parts)));
}

// The axes that are transformed, in order: those of the input, else the last ones that have a
// length, else all.
std::vector<int64_t> transformed_axes(Builder& b, ValueId x, size_t lengths) {
  if (b.has(2)) return b.axes(b.in_values(2), x);
  const auto rank = static_cast<size_t>(b.rank(x));
  std::vector<int64_t> axes(lengths > 0 ? std::min(lengths, rank) : rank);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(rank - axes.size()));
  return axes;
}

double scale_of(const Transform& t, int64_t way, double points) {
  if (way == kOrthonormal) return 1 / std::sqrt(points);
  return (way == kForward) != t.inverse ? 1 / points : 1;
}

}  // namespace

void lower_fft(Builder& b) {
  const Transform t = transform_named(b.type());
  const ValueId given = b.in(0);
  if (!b.has_rank(given, "the input", 1)) return;
  auto lengths = b.has(1) ? b.in_values(1) : std::vector<int64_t>{};
  const auto axes = transformed_axes(b, given, lengths.size());
  const int64_t way = b.has(3) ? b.in_value(3) : kBackward;
  if (!b.ok()) return;
  if (axes.empty() || (!lengths.empty() && lengths.size() != axes.size()) || way < 0 || way > 2) {
    return b.refuse(Code::invalid_argument,
                    "{} lengths for {} axes and {} as the way of scaling; expected as many lengths "
                    "as axes, at least "
                    "one, and 0 (backward), 1 (forward) or 2 (orthonormal)",
                    lengths.size(), axes.size(), way);
  }
  const Shape shape = b.shape(given);
  if (lengths.empty()) {
    for (const int64_t axis : axes) lengths.push_back(shape[static_cast<size_t>(axis)]);
    if (t.to_real) lengths.back() = 2 * (lengths.back() - 1);
  }
  double points = 1;
  for (const int64_t length : lengths) {
    if (length < 1)
      return b.refuse(Code::invalid_argument, "a length is {}, expected 1 or more", length);
    points *= static_cast<double>(length);
  }
  const DType made = b.op().outputs[0].dtype;
  const bool wide = made == DType::c128 || made == DType::f64;
  ValueId x = parts_of(b, given, wide ? DType::f64 : DType::f32);
  // Transforms of the two signs are conjugates of each other: one of mirrored axes is that of the
  // conjugate.
  const auto along = [&](size_t i, bool inverse) {
    x = dft(b, x, axes[i], lengths[i], inverse, false);
    if (inverse) x = mul(b, x, b.scalar(b.dtype(x), static_cast<double>(lengths[i])));
  };
  const size_t last = axes.size() - 1;
  if (t.of_real) {
    // The half of a spectrum first, as the numbers are real then.
    x = dft(b, x, axes[last], lengths[last], false, false);
    x = fitted(b, x, axes[last], lengths[last] / 2 + 1);
    if (t.mirrored) x = conjugate(b, x);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i != last || (!t.of_real && !t.to_real)) along(i, t.inverse);
  }
  const double scale = scale_of(t, way, points);
  if (t.to_real) {
    if (t.mirrored) x = conjugate(b, x);
    x = fitted(b, x, axes[last], lengths[last] / 2 + 1);
    x = dft(b, x, axes[last], lengths[last], true, true);
    x = mul(b, x, b.scalar(b.dtype(x), scale * static_cast<double>(lengths[last])));
    if (b.ok()) b.out(0, b.node("Squeeze", 13, {x, b.list({b.rank(x) - 1})}));
    return;
  }
  if (scale != 1) x = mul(b, x, b.scalar(b.dtype(x), scale));
  if (b.ok()) b.out(0, complex_of(b, x));
}

// The middle of each axis becomes its beginning, or the other way round.
void lower_fft_shift(Builder& b) {
  ValueId x = b.in(0);
  if (!b.has_rank(x, "the input", 1)) return;
  std::vector<int64_t> axes(static_cast<size_t>(b.rank(x)));
  std::iota(axes.begin(), axes.end(), 0);
  if (b.has(1)) axes = b.axes(b.in_values(1), x);
  for (const int64_t axis : axes) {
    if (!b.ok()) return;
    const int64_t extent = b.shape(x)[static_cast<size_t>(axis)];
    const int64_t cut = b.type() == "FFTShift" ? (extent + 1) / 2 : extent / 2;
    const auto piece = [&](int64_t from, int64_t to) {
      return b.node("Slice", 13, {x, b.list({from}), b.list({to}), b.list({axis})});
    };
    x = b.node("Concat", 13, {piece(cut, extent), piece(0, cut)}, {{"axis", axis}});
  }
  b.out(0, x);
}

// The frequencies of n points that are d apart.
void lower_fft_frequencies(Builder& b) {
  const int64_t n = b.in_value(0);
  const ValueId apart = b.reshape(b.in(1), {1});
  if (b.has(2)) b.leave(2);
  if (!b.ok()) return;
  if (n < 1 || n > (1 << 24))
    return b.refuse(Code::invalid_argument, "n is {}, expected 1 to {}", n, 1 << 24);
  std::vector<float> parts;
  const bool half = b.type() == "RFFTFreq";
  for (int64_t i = 0; i < (half ? n / 2 + 1 : n); ++i) {
    parts.push_back(static_cast<float>(half || i < (n + 1) / 2 ? i : i - n));
  }
  const DType described = b.op().outputs[0].dtype;
  const DType type = described == DType::undefined ? DType::f32 : described;
  const DType inner = type == DType::f64 ? type : DType::f32;
  const ValueId row = b.cast(b.table({static_cast<int64_t>(parts.size())}, parts), inner);
  const ValueId whole = mul(b, b.cast(apart, inner), b.scalar(inner, static_cast<double>(n)));
  b.out(0, b.cast(div(b, row, whole), type));
}

// Spectra of windows that move over rows: [.., bins, frames], complex or as pairs.
void lower_stft(Builder& b) {
  const ValueId given = b.in(0);
  const int64_t frame = b.i("n_fft"), step = b.i("hop_length", frame / 4),
                length = b.i("win_length", frame);
  const bool onesided = b.flag("onesided", true), normalized = b.flag("normalized", false);
  if (!b.has_rank(given, "x", 1, 2)) return;
  const Shape shape = b.shape(given);
  if (frame < 1 || step < 1 || length < 1 || length > frame || frame > shape.back()) {
    return b.refuse(Code::invalid_argument,
                    "x has the shape {}, n_fft, hop_length and win_length are {}, {} and {}; "
                    "expected n_fft within the "
                    "rows, win_length within n_fft and steps forward",
                    to_string(shape), frame, step, length);
  }
  const DType type = ops::part_of(b.dtype(given));
  const bool is_complex = ops::kComplex.has(b.dtype(given));
  ValueId x = is_complex ? parts_of(b, given, type) : given;
  const int64_t batch = shape.size() == 2 ? shape[0] : 1;
  x = b.reshape(x, {batch, shape.back(), is_complex ? 2 : 1});
  ValueId window = b.has(1) ? b.cast(b.in(1), type) : b.filled(type, {length}, 1);
  if (!b.has_count(window, "the window", length)) return;
  const int64_t left = (frame - length) / 2;
  if (length < frame) window = b.node("Pad", 13, {window, b.list({left, frame - length - left})});
  ValueId y = b.node("STFT", 17, {x, b.whole(DType::i64, step), window},
                     {{"onesided", int64_t{onesided && !is_complex}}});
  y = b.transpose(y, {0, 2, 1, 3});
  if (normalized) y = mul(b, y, b.scalar(type, 1 / std::sqrt(static_cast<double>(frame))));
  if (b.ok() && shape.size() == 1) y = b.node("Squeeze", 13, {y, b.list({0})});
  if (b.ok()) b.out(0, b.flag("return_complex", true) ? complex_of(b, y) : y);
}

}  // namespace anynpu::singleop
