// SPDX-License-Identifier: Apache-2.0
// ImageProjectiveTransform: every pixel comes from another place, which eight numbers tell. They
// are constants, so places and shares are computed while the model is read.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

// A coordinate outside [0, length - 1], brought back as the mode says; TensorFlow's own arithmetic.
float brought_back(float at, int64_t length, const std::string& mode) {
  const auto end = static_cast<float>(length - 1);
  if (mode == "CONSTANT") return at;
  if (mode == "NEAREST" || length <= 1) return std::clamp(at, 0.0f, std::max(end, 0.0f));
  if (mode == "REFLECT") {
    const auto twice = static_cast<float>(2 * length);
    const auto whole = static_cast<float>(length);
    if (at < 0) {
      if (at < twice) at += twice * std::trunc(-at / twice);
      at = at < -whole ? at + twice : -at - 1;
    } else if (at > end) {
      at -= twice * std::trunc(at / twice);
      if (at >= whole) at = twice - at - 1;
    }
  } else if (at < 0) {  // WRAP
    at += static_cast<float>(length) * (std::trunc(-at / end) + 1);
  } else if (at > end) {
    at -= static_cast<float>(length) * std::trunc(at / end);
  }
  return std::clamp(at, 0.0f, end);
}

// Pixels of the input and their shares, for each pixel of the output. Four at most.
struct Sources {
  std::array<Ints, 4> place;
  std::array<std::vector<float>, 4> share;
  std::vector<float> fill;  // the share of the fill value

  void add(size_t tap, float y, float x, float weight, int64_t height, int64_t width) {
    const bool inside =
        y >= 0 && y < static_cast<float>(height) && x >= 0 && x < static_cast<float>(width);
    place[tap].push_back(inside ? static_cast<int64_t>(y) * width + static_cast<int64_t>(x) : 0);
    share[tap].push_back(inside ? weight : 0);
    if (!inside) fill.back() += weight;
  }
};

struct Picture {
  int64_t height, width, out_height, out_width;
};

Sources sources_of(const float* t, const Picture& p, const std::string& mode, bool linear) {
  Sources made;
  for (int64_t oy = 0; oy < p.out_height; ++oy) {
    for (int64_t ox = 0; ox < p.out_width; ++ox) {
      const auto x = static_cast<float>(ox), y = static_cast<float>(oy);
      const float depth = t[6] * x + t[7] * y + 1;
      made.fill.push_back(0);
      if (depth == 0) {  // at infinity
        for (size_t tap = 0; tap < (linear ? 4 : 1); ++tap) made.add(tap, -1, -1, 0, 1, 1);
        made.fill.back() = 1;
        continue;
      }
      const float sx = brought_back((t[0] * x + t[1] * y + t[2]) / depth, p.width, mode);
      const float sy = brought_back((t[3] * x + t[4] * y + t[5]) / depth, p.height, mode);
      if (!linear) {
        made.add(0, std::round(sy), std::round(sx), 1, p.height, p.width);
        continue;
      }
      const float y0 = std::floor(sy), x0 = std::floor(sx), down = sy - y0, right = sx - x0;
      for (size_t tap = 0; tap < 4; ++tap) {
        const bool low = tap / 2 == 1, far = tap % 2 == 1;
        made.add(tap, y0 + (low ? 1.0f : 0.0f), x0 + (far ? 1.0f : 0.0f),
                 (low ? down : 1 - down) * (far ? right : 1 - right), p.height, p.width);
      }
    }
  }
  return made;
}

}  // namespace

void lower_projective_transform(Builder& b) {
  const ValueId x = b.in(0), transforms = b.in(1);
  const Ints size = b.in_values(2);
  const double fill = b.type() == "ImageProjectiveTransformV3" ? b.in_number(3) : 0;
  const std::string mode =
      b.word("fill_mode", "CONSTANT", {"CONSTANT", "REFLECT", "WRAP", "NEAREST"});
  const bool linear = b.word("interpolation", "NEAREST", {"NEAREST", "BILINEAR"}) == "BILINEAR";
  if (!b.has_rank(x, "the pictures", 4, 4) || !b.need_fixed(x, "the pictures")) return;
  if (!b.is_constant(transforms) || b.dtype(transforms) != DType::f32 || b.rank(transforms) != 2 ||
      b.shape(transforms)[1] != 8 || size.size() != 2 || size[0] < 1 || size[1] < 1) {
    return b.refuse(
        Code::unsupported_feature,
        "its transforms come at run time, or they and the size {} are no rows of 8 and a "
        "height and a width; expected constants",
        size);
  }
  const Shape s = b.shape(x);
  const int64_t rows = b.shape(transforms)[0];
  if (rows != 1 && rows != s[0]) {
    return b.refuse(Code::shape_mismatch,
                    "{} transforms for {} pictures; expected 1 or one for each", rows, s[0]);
  }
  constexpr int64_t kMostPixels = int64_t{1} << 24;
  if (size[0] > kMostPixels || size[1] > kMostPixels || s[0] > kMostPixels ||
      size[0] * size[1] > kMostPixels / std::max<int64_t>(s[0], 1)) {
    return b.refuse(Code::limit_exceeded,
                    "{} pictures of {} are asked for; at most {} pixels are taken", s[0], size,
                    kMostPixels);
  }
  std::vector<float> numbers(static_cast<size_t>(rows * 8));
  std::memcpy(numbers.data(), b.value(transforms).constant->bytes.data(),
              numbers.size() * sizeof(float));
  const Picture picture{s[1], s[2], size[0], size[1]};
  const int64_t pixels = size[0] * size[1];
  const DType type = b.dtype(x);
  const ValueId flat = b.cast(b.reshape(x, {s[0], s[1] * s[2], s[3]}), DType::f32);
  std::vector<ValueId> pictures;
  for (int64_t n = 0; n < s[0] && b.ok(); ++n) {
    const Sources from =
        sources_of(numbers.data() + (rows == 1 ? 0 : n) * 8, picture, mode, linear);
    const ValueId one = b.slice(flat, 0, n, n + 1);
    const auto constant = [&](std::vector<float> values) {
      return b.constant(DType::f32, {pixels, 1}, graph::constant_of(std::move(values)));
    };
    ValueId sum = mul(b, constant(from.fill), b.scalar(DType::f32, fill));
    for (size_t tap = 0; tap < (linear ? 4 : 1); ++tap) {
      const ValueId taken =
          b.node("Gather", 13, {one, b.list(from.place[tap])}, {{"axis", int64_t{1}}});
      sum = add(b, sum, mul(b, taken, constant(from.share[tap])));
    }
    pictures.push_back(sum);
  }
  const ValueId all = b.node("Concat", 13, pictures, {{"axis", int64_t{0}}});
  if (b.ok()) b.out(0, b.cast(b.reshape(all, {s[0], size[0], size[1], s[3]}), type));
}

}  // namespace anynpu::tensorflow
