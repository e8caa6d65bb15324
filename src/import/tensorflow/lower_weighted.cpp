// SPDX-License-Identifier: Apache-2.0
// Pictures whose rows and columns are weighted sums of others, with weights that are known while
// the model is read: areas, curves and their gradients.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"
#include "ops/resize/axis_weights.h"

namespace anynpu::tensorflow {

namespace {

using ops::AxisWeights;

ValueId weighted(Builder& b, ValueId x, int64_t axis, const AxisWeights& weights) {
  AxisWeights::Taps taps = weights.taps();
  const Shape shape{static_cast<int64_t>(weights.rows.size()), taps.per_output};
  const ValueId index = b.constant(DType::i64, shape, graph::constant_of(std::move(taps.places)));
  const ValueId weight = b.constant(DType::f64, shape, graph::constant_of(std::move(taps.weights)));
  return b.node("anynpu.WeightedAxis", 1, {x, index, weight}, {{"axis", axis}});
}

struct PixelRule {
  bool corners, half;

  float scale(int64_t in, int64_t out) const {
    return corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                              : static_cast<float>(in) / static_cast<float>(out);
  }
  // Where in the input the output `o` looks, as TensorFlow computes it: in float.
  float source(float o, float by) const { return half ? (o + 0.5f) * by - 0.5f : o * by; }
};

PixelRule pixel_rule(Builder& b) {
  return {b.flag("align_corners", false), b.flag("half_pixel_centers", false)};
}

// The curve of a cubic between pixels, at 1024 places; with half-pixel centres that of Keys, whose
// taps outside the picture do not count. A tap of weight 0 counts: 0 times infinity is no number.
AxisWeights cubic_weights(const PixelRule& rule, int64_t in, int64_t out) {
  constexpr float kSteps = 1024;
  const double a = rule.half ? -0.5 : -0.75;
  const auto curve = [&](double x) {
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  };
  AxisWeights weights{in, {}};
  const float scale = rule.scale(in, out);
  for (int64_t o = 0; o < out; ++o) {
    const float at = rule.source(static_cast<float>(o), scale);
    const auto first = static_cast<int64_t>(std::floor(at));
    const double part = static_cast<double>(std::lrint((at - std::floor(at)) * kSteps)) / 1024;
    double sum = 0;
    auto& taps = weights.rows.emplace_back();
    for (int64_t k = -1; k <= 2; ++k) {
      const int64_t place = std::clamp<int64_t>(first + k, 0, in - 1);
      const bool counts = !rule.half || place == first + k;
      taps.push_back({place, counts ? curve(std::fabs(static_cast<double>(k) - part)) : 0.0});
      sum += taps.back().second;
    }
    for (auto& tap : taps) tap.second /= rule.half && sum != 0 ? sum : 1;
  }
  return weights;
}

AxisWeights linear_weights(const PixelRule& rule, int64_t in, int64_t out) {
  AxisWeights weights{in, {}};
  const float scale = rule.scale(in, out);
  for (int64_t o = 0; o < out; ++o) {
    const float at = rule.source(static_cast<float>(o), scale), floor = std::floor(at);
    const auto low = std::max<int64_t>(0, static_cast<int64_t>(floor));
    const auto high = std::min<int64_t>(in - 1, static_cast<int64_t>(std::ceil(at)));
    const auto part = static_cast<double>(at - floor);
    weights.rows.push_back({{low, 1 - part}, {std::max<int64_t>(high, 0), part}});
  }
  return weights;
}

AxisWeights nearest_weights(const PixelRule& rule, int64_t in, int64_t out) {
  AxisWeights weights{in, {}};
  const float scale = rule.scale(in, out);
  for (int64_t o = 0; o < out; ++o) {
    const float at = (static_cast<float>(o) + (rule.half ? 0.5f : 0)) * scale;
    const float whole = rule.corners ? std::round(at) : std::floor(at);
    weights.rows.push_back({{std::min<int64_t>(in - 1, static_cast<int64_t>(whole)), 1.0}});
  }
  return weights;
}

// The mean of the area that a pixel covers.
AxisWeights area_weights(const PixelRule& rule, int64_t in, int64_t out) {
  const auto scale = static_cast<double>(rule.scale(in, out));
  AxisWeights weights{in, {}};
  for (int64_t o = 0; o < out; ++o) {
    const double begin = static_cast<double>(o) * scale, end = begin + scale;
    auto& taps = weights.rows.emplace_back();
    for (auto i = static_cast<int64_t>(begin); static_cast<double>(i) < end; ++i) {
      const double share =
          std::min(end, static_cast<double>(i + 1)) - std::max(begin, static_cast<double>(i));
      taps.push_back({std::min(i, in - 1), share / scale});
    }
  }
  return weights;
}

using ShareRule = AxisWeights (*)(const PixelRule& rule, int64_t in, int64_t out);

// A fixed size, from an input of two numbers.
std::optional<std::array<int64_t, 2>> wanted_size(Builder& b, size_t input) {
  const Ints size = b.in_values(input);
  if (b.ok() && (size.size() != 2 || size[0] < 1 || size[1] < 1))
    b.refuse(Code::invalid_argument, "size is {}, expected a height and a width", size);
  if (!b.ok()) return {};
  return std::array{size[0], size[1]};
}

// Whether tables of weights for an axis stay small: a few bytes of a file ask for any extent.
bool is_bounded(Builder& b, int64_t in, int64_t out, double taps = 4) {
  constexpr int64_t kMostExtent = int64_t{1} << 20;
  constexpr double kMostTaps = 1 << 25;
  const double all = std::min(taps, static_cast<double>(in)) * static_cast<double>(out);
  if (in <= kMostExtent && out <= kMostExtent && all <= kMostTaps) return b.ok();
  b.refuse(Code::limit_exceeded, "an axis of {} becomes {}; at most {} are taken, and {} weights",
           in, out, kMostExtent, static_cast<int64_t>(kMostTaps));
  return false;
}

bool is_fixed_picture(Builder& b, ValueId x) {
  return b.has_rank(x, "the picture", 4, 4) && b.need_fixed(x, "the picture");
}

void resize_by(Builder& b, ShareRule rule_of_axis) {
  ValueId x = b.cast(b.in_first(0), DType::f32);
  const PixelRule rule = pixel_rule(b);
  const auto size = wanted_size(b, 1);
  if (!size || !is_fixed_picture(b, x)) return;
  for (int64_t axis : {2, 3}) {
    const int64_t in = b.shape(x)[static_cast<size_t>(axis)];
    const int64_t out = (*size)[static_cast<size_t>(axis - 2)];
    if (!is_bounded(b, in, out)) return;
    x = weighted(b, x, axis, rule_of_axis(rule, in, out));
    if (!b.ok()) return;
  }
  b.out_first(0, x);
}

// The gradient of a picture of `height` x `width` that was resized to that of input 0.
void gradient_by(Builder& b, ShareRule rule_of_axis, std::array<int64_t, 2> size) {
  ValueId x = b.cast(b.in_first(0), DType::f32);
  const PixelRule rule = pixel_rule(b);
  if (!b.ok() || !is_fixed_picture(b, x)) return;
  for (int64_t axis : {2, 3}) {
    const int64_t out = b.shape(x)[static_cast<size_t>(axis)];
    const int64_t in = size[static_cast<size_t>(axis - 2)];
    if (!is_bounded(b, in, out)) return;
    x = weighted(b, x, axis, rule_of_axis(rule, in, out).transposed());
    if (!b.ok()) return;
  }
  b.out_first(0, x);
}

// Kernels of ScaleAndTranslate: how far they reach, and their weight at a distance.
struct Kernel {
  std::string_view name;
  double reach;
  double (*weight)(double x);
};

template <int radius>
double lanczos(double x) {
  constexpr double pi = std::numbers::pi;
  if (x > radius) return 0;
  if (x <= 1e-3) return 1;
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}

constexpr Kernel kKernels[] = {
    {"lanczos1", 1, lanczos<1>},
    {"lanczos3", 3, lanczos<3>},
    {"lanczos5", 5, lanczos<5>},
    {"gaussian", 1.5, [](double x) { return x >= 1.5 ? 0.0 : std::exp(-2 * x * x); }},
    {"box", 1, [](double x) { return x < 0.5    ? 1.0
                                     : x == 0.5 ? 0.5
                                                : 0.0; }},
    {"triangle", 1, [](double x) { return x < 1 ? 1 - x : 0.0; }},
    {"keyscubic", 2,
     [](double x) {
       if (x >= 2) return 0.0;
       return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
     }},
    {"mitchellcubic", 2,
     [](double x) {
       if (x >= 2) return 0.0;
       return x >= 1 ? ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9
                     : (7.0 / 6 * x - 2) * x * x + 8.0 / 9;
     }},
};

AxisWeights kernel_weights(const Kernel& kernel, int64_t in, int64_t out, float scale,
                           float translation, bool antialias) {
  const double step = 1.0 / static_cast<double>(scale);
  const double start = -step * static_cast<double>(translation);
  const double stretch = antialias ? std::max(step, 1.0) : 1.0, reach = kernel.reach * stretch;
  const auto bound = [&](double place) {
    return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(in - 1)));
  };
  AxisWeights weights{in, {}};
  for (int64_t o = 0; o < out; ++o) {
    const double at = (static_cast<double>(o) + 0.5) * step + start;
    auto& taps = weights.rows.emplace_back();
    if (at < 0 || at > static_cast<double>(in)) continue;  // nothing of the picture
    double sum = 0;
    const int64_t last = bound(std::floor(at + reach - 0.5));
    for (int64_t i = bound(std::ceil(at - reach - 0.5)); i <= last; ++i) {
      taps.push_back({i, kernel.weight(std::fabs(static_cast<double>(i) + 0.5 - at) / stretch)});
      sum += taps.back().second;
    }
    constexpr double kLeast = 1000 * static_cast<double>(std::numeric_limits<float>::min());
    for (auto& tap : taps) tap.second /= std::fabs(sum) >= kLeast ? sum : 1;
  }
  return weights;
}

// The two numbers of an input that is a constant.
std::optional<std::array<float, 2>> pair_of(Builder& b, size_t input) {
  const ValueId id = b.in(input);
  if (!b.ok()) return {};
  if (!b.is_constant(id) || b.dtype(id) != DType::f32 || element_count(b.shape(id)) != 2) {
    b.refuse(Code::unsupported_feature,
             "input {} comes at run time or is no pair; expected a constant of two numbers", input);
    return {};
  }
  std::array<float, 2> pair;
  std::copy_n(b.value(id).constant->bytes.data(), sizeof(pair),
              reinterpret_cast<std::byte*>(pair.data()));
  return pair;
}

}  // namespace

// The number of places is TensorFlow's; a size that comes at run time is resized by the curve
// itself.
void lower_resize_bicubic(Builder& b) {
  if (b.is_known(1) && b.is_fixed(b.in_first(0))) return resize_by(b, cubic_weights);
  lower_resize_cubic(b);
}

void lower_resize_area(Builder& b) { resize_by(b, area_weights); }

void lower_resize_grad(Builder& b) {
  const ValueId original = b.in(1);
  if (!b.has_rank(original, "the picture", 4, 4) || !b.need_fixed(original, "the picture")) return;
  const Shape& s = b.shape(original);
  gradient_by(b, b.type() == "ResizeBicubicGrad" ? cubic_weights : linear_weights, {s[1], s[2]});
}

void lower_resize_nearest_grad(Builder& b) {
  if (const auto size = wanted_size(b, 1)) gradient_by(b, nearest_weights, *size);
}

void lower_scale_and_translate(Builder& b) {
  ValueId x = b.cast(b.in_first(0), DType::f32);
  const auto size = wanted_size(b, 1);
  const auto scale = pair_of(b, 2), translation = pair_of(b, 3);
  const std::string name = b.s("kernel_type", "lanczos3");
  const bool antialias = b.flag("antialias", true);
  if (!b.ok() || !is_fixed_picture(b, x)) return;
  const auto kernel = std::find_if(std::begin(kKernels), std::end(kKernels),
                                   [&](const Kernel& one) { return one.name == name; });
  if (kernel == std::end(kKernels) || (*scale)[0] <= 0 || (*scale)[1] <= 0) {
    return b.refuse(Code::invalid_argument,
                    "kernel_type is '{}' and scale {} x {}; expected lanczos1, lanczos3, lanczos5, "
                    "gaussian, box, triangle, keyscubic or mitchellcubic, and scales above 0",
                    name, (*scale)[0], (*scale)[1]);
  }
  for (size_t k = 0; k < 2 && b.ok(); ++k) {
    const auto axis = static_cast<int64_t>(k) + 2;
    const double reach = kernel->reach * std::max(1.0, 1.0 / static_cast<double>((*scale)[k]));
    if (!is_bounded(b, b.shape(x)[k + 2], (*size)[k], 2 * reach + 3)) return;
    x = weighted(b, x, axis,
                 kernel_weights(*kernel, b.shape(x)[k + 2], (*size)[k], (*scale)[k],
                                (*translation)[k], antialias));
  }
  b.out_first(0, x);
}

}  // namespace anynpu::tensorflow
