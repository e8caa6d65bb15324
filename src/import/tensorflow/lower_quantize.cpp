// SPDX-License-Identifier: Apache-2.0
// FakeQuant: values rounded to what an integer of some bits would hold. The range is moved so that
// zero is one of its steps.
#include <algorithm>
#include <cmath>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

struct Nudged {
  std::vector<float> low, high, scale;
};

Nudged nudge(const std::vector<float>& low, const std::vector<float>& high, int64_t bits,
             bool narrow) {
  Nudged made;
  const auto first = static_cast<float>(narrow ? 1 : 0);
  const auto last = static_cast<float>((int64_t{1} << bits) - 1);
  for (size_t i = 0; i < low.size(); ++i) {
    const float scale = (high[i] - low[i]) / (last - first);
    const float zero = first - low[i] / scale;
    const float step = zero < first ? first : zero > last ? last : std::round(zero);
    made.low.push_back((first - step) * scale);
    made.high.push_back((last - step) * scale);
    made.scale.push_back(scale);
  }
  return made;
}

std::vector<float> known_floats(Builder& b, size_t input) {
  const ValueId id = b.in(input);
  if (!b.ok()) return {};
  if (!b.is_constant(id) || b.dtype(id) != DType::f32) {
    b.refuse(Code::unsupported_feature,
             "its range (input {}) is computed while the model runs; freeze it", input);
    return {};
  }
  const auto bytes = b.value(id).constant->bytes;
  std::vector<float> list(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), list.size() * sizeof(float), reinterpret_cast<std::byte*>(list.data()));
  return list;
}

}  // namespace

void lower_fake_quant(Builder& b) {
  const int64_t bits = b.i("num_bits", 8);
  const bool narrow = b.flag("narrow_range", false);
  const bool by_attributes = b.type() == "FakeQuantWithMinMaxArgs";
  const std::vector<float> low =
      by_attributes ? std::vector<float>{b.f("min", -6)} : known_floats(b, 1);
  const std::vector<float> high =
      by_attributes ? std::vector<float>{b.f("max", 6)} : known_floats(b, 2);
  if (!b.ok()) return;
  if (bits < 2 || bits > 16 || low.size() != high.size() || low.empty())
    return b.refuse(Code::invalid_argument, "num_bits is {}, min and max have {} and {} elements",
                    bits, low.size(), high.size());
  const Nudged range = nudge(low, high, bits, narrow);
  const bool first = b.is_first(0);
  const ValueId x = first ? b.in_first(0) : b.in(0);
  if (!b.ok()) return;
  const auto constant = [&](const std::vector<float>& values) {
    Shape shape;
    if (values.size() > 1) shape = {static_cast<int64_t>(values.size())};
    const ValueId id = b.constant(DType::f32, shape, graph::constant_of(values));
    return first && values.size() > 1 ? b.to_first(id, static_cast<size_t>(b.rank(x))) : id;
  };
  const ValueId bottom = constant(range.low), top = constant(range.high),
                scale = constant(range.scale);
  const ValueId inside = b.node("Max", 13, {b.node("Min", 13, {x, top}), bottom});
  const ValueId steps = add(b, div(b, sub(b, inside, bottom), scale), b.scalar(DType::f32, 0.5));
  const ValueId y = add(b, mul(b, b.node("Floor", 13, {steps}), scale), bottom);
  first ? b.out_first(0, y) : b.out(0, y);
}

}  // namespace anynpu::tensorflow
