// SPDX-License-Identifier: Apache-2.0
// Fourier transforms along the last one, two or three axes. DFT wants the parts of a complex number
// as a last axis of two, which is how complex elements lie in memory.
#include "import/tensorflow/lower.h"
#include "ops/dtype_set.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

namespace {

// "FFT2D", "IRFFT3D": the number of axes.
int64_t transformed_axes(const std::string& name) {
  return name.ends_with("3D") ? 3 : name.ends_with("2D") ? 2 : 1;
}

ValueId parts_of(Builder& b, ValueId x) {
  return b.node("anynpu.BitCast", 1, {x}, {{"to", cast_number(ops::part_of(b.dtype(x)))}});
}

ValueId complex_of(Builder& b, ValueId parts) {
  const DType type = b.dtype(parts) == DType::f64 ? DType::c128 : DType::c64;
  return b.node("anynpu.BitCast", 1, {parts}, {{"to", cast_number(type)}});
}

// Along `axis` of a tensor of parts; `length` 0: as long as it is.
ValueId transform(Builder& b, ValueId x, int64_t axis, bool inverse, bool half = false,
                  int64_t length = 0) {
  return b.node("DFT", 20,
                {x, length > 0 ? b.whole(DType::i64, length) : kNoValue, b.whole(DType::i64, axis)},
                {{"inverse", int64_t{inverse}}, {"onesided", int64_t{half}}});
}

// The first `length` elements of an axis, with zeros behind where there are fewer.
ValueId fitted(Builder& b, ValueId x, int64_t axis, int64_t length) {
  const int64_t extent = b.shape(x)[static_cast<size_t>(axis)];
  if (extent > length) return b.slice(x, axis, 0, length);
  if (extent == length) return x;
  Ints pads(static_cast<size_t>(2 * b.rank(x)), 0);
  pads[static_cast<size_t>(b.rank(x) + axis)] = length - extent;
  return b.node("Pad", 18, {x, b.list(pads)});
}

// Of a transform that pads: its tables take a hundred bytes for each element of its length.
constexpr int64_t kMostLength = 1 << 22;

// The lengths of RFFT and IRFFT, one for each axis.
Ints fft_lengths(Builder& b, int64_t axes) {
  const Ints lengths = b.in_values(1);
  bool fits = static_cast<int64_t>(lengths.size()) == axes;
  for (int64_t length : lengths) fits = fits && length > 0 && length <= kMostLength;
  if (b.ok() && !fits)
    b.refuse(Code::invalid_argument, "fft_length is {}, expected {} lengths from 1 to {}", lengths,
             axes, kMostLength);
  return lengths;
}

}  // namespace

void lower_fft(Builder& b) {
  const int64_t axes = transformed_axes(b.type());
  const bool inverse = b.type().starts_with("I");
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the input", axes)) return;
  const int64_t rank = b.rank(x);
  ValueId y = parts_of(b, x);
  for (int64_t k = 1; k <= axes; ++k) y = transform(b, y, rank - k, inverse);
  if (b.ok()) b.out(0, complex_of(b, y));
}

void lower_rfft(Builder& b) {
  const int64_t axes = transformed_axes(b.type());
  const Ints lengths = fft_lengths(b, axes);
  ValueId x = b.in(0);
  if (!b.has_rank(x, "the input", axes) || !b.need_fixed(x, "the input")) return;
  const int64_t rank = b.rank(x);
  for (int64_t k = 0; k < axes; ++k)
    x = fitted(b, x, rank - axes + k, lengths[static_cast<size_t>(k)]);
  ValueId y = transform(b, b.unsqueeze(x, {rank}), rank - 1, false, true);
  for (int64_t k = 2; k <= axes; ++k) y = transform(b, y, rank - k, false);
  if (b.ok()) b.out(0, complex_of(b, y));
}

// The last axis holds half a spectrum: it is transformed last, to real numbers.
void lower_irfft(Builder& b) {
  const int64_t axes = transformed_axes(b.type());
  const Ints lengths = fft_lengths(b, axes);
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the input", axes) || !b.need_fixed(x, "the input")) return;
  const int64_t rank = b.rank(x);
  ValueId y = parts_of(b, x);
  for (int64_t k = 0; k < axes; ++k) {
    const int64_t length = lengths[static_cast<size_t>(k)];
    y = fitted(b, y, rank - axes + k, k == axes - 1 ? length / 2 + 1 : length);
  }
  for (int64_t k = 2; k <= axes; ++k) y = transform(b, y, rank - k, true);
  y = transform(b, y, rank - 1, true, true, lengths.back());
  if (b.ok()) b.out(0, b.squeeze(y, {rank}));
}

}  // namespace anynpu::tensorflow
