// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/requantize.h"

#include <algorithm>
#include <cmath>

#include "ops/runtime_params.h"

namespace anynpu::ops::quantize {

std::vector<AttrSchema> requantize_attributes() {
  return {{"x_scale", AttrKind::f, {}, true},       {"x_zero", AttrKind::i, int64_t{0}},
          {"w_scales", AttrKind::floats, {}, true}, {"y_scale", AttrKind::f, 0.0f},
          {"y_zero", AttrKind::i, int64_t{0}},      {"y_low", AttrKind::i, int64_t{0}},
          {"y_high", AttrKind::i, int64_t{255}},    {"z_scale", AttrKind::f, 1.0f},
          {"z_zero", AttrKind::i, int64_t{0}},      {"first_scale", AttrKind::f, 0.0f},
          {"first_zero", AttrKind::i, int64_t{0}},  {"first_low", AttrKind::i, int64_t{0}},
          {"first_high", AttrKind::i, int64_t{255}}};
}

OpSchema quantized_schema(std::string_view name, const std::array<const char*, 3>& inputs,
                          const std::vector<AttrSchema>& attrs, const OpTraits& traits,
                          ShapeRule rule) {
  std::vector<AttrSchema> all = requantize_attributes();
  all.insert(all.end(), attrs.begin(), attrs.end());
  return {.name = name,
          .domain = "anynpu",
          .since = 1,
          .inputs = {{inputs[0], "T"},
                     {inputs[1], "W"},
                     {inputs[2], "F", Presence::optional},
                     {"Z", "T", Presence::optional}},
          .outputs = {{"Y", "Y"}},
          .types = {{"T", {DType::u8}},
                    {"W", {DType::i8}},
                    {"F", {DType::f32}},
                    {"Y", {DType::u8, DType::f32}}},
          .attrs = std::move(all),
          .traits = traits,
          .shape = rule};
}

DType quantized_type(const OpContext& context) {
  return context.float_attr("y_scale") == 0 ? DType::f32 : DType::u8;
}

Status set_quantized_output(OpContext& context, Shape shape) {
  if (context.has_input(3) && context.inputs[3].has_shape && context.inputs[3].shape != shape) {
    return fail(Code::shape_mismatch,
                "{}: the tensor to add is {}, the output is {}; expected the same", context.label(),
                to_string(context.inputs[3].shape), to_string(shape));
  }
  return set_output(context, 0, quantized_type(context), std::move(shape));
}

Result<Requantize> Requantize::of(const OpContext& context, int64_t channels) {
  Requantize r;
  const auto whole = [&](const char* name) { return static_cast<int32_t>(context.int_attr(name)); };
  r.x_scale = context.float_attr("x_scale"), r.x_zero = whole("x_zero");
  r.y_scale = context.float_attr("y_scale"), r.y_zero = whole("y_zero");
  r.y_low = whole("y_low"), r.y_high = whole("y_high");
  r.z_scale = context.float_attr("z_scale"), r.z_zero = whole("z_zero");
  r.first_scale = context.float_attr("first_scale"), r.first_zero = whole("first_zero");
  r.first_low = whole("first_low"), r.first_high = whole("first_high");
  const auto found = context.node->attrs.find("w_scales");
  if (found != context.node->attrs.end()) {
    if (const auto* list = std::get_if<std::vector<float>>(&found->second)) r.w_scales = *list;
  }
  const auto count = static_cast<int64_t>(r.w_scales.size());
  if (count != 1 && count != channels) {
    return fail(Code::invalid_argument,
                "{}: {} scales of weights for {} output channels, expected one or one for each",
                context.label(), count, channels);
  }
  for (const int32_t zero : {r.x_zero, r.y_zero, r.z_zero, r.first_zero}) {
    if (zero >= 0 && zero <= 255) continue;
    return fail(Code::invalid_argument, "{}: zero point {}, expected 0 to 255", context.label(),
                zero);
  }
  return r;
}

void Requantize::write(graph::Node& node) const {
  const auto whole = [&](const char* name, int32_t value) { node.attrs[name] = int64_t{value}; };
  node.attrs["x_scale"] = x_scale, whole("x_zero", x_zero);
  node.attrs["w_scales"] = w_scales;
  node.attrs["y_scale"] = y_scale, whole("y_zero", y_zero);
  whole("y_low", y_low), whole("y_high", y_high);
  node.attrs["z_scale"] = z_scale, whole("z_zero", z_zero);
  node.attrs["first_scale"] = first_scale, whole("first_zero", first_zero);
  whole("first_low", first_low), whole("first_high", first_high);
}

double Requantize::unit() const {
  if (first_scale != 0) return first_scale;
  return floats() ? 1.0 : y_scale;
}

float Requantize::factor(int64_t c) const {
  const float scale = w_scales[w_scales.size() == 1 ? 0 : static_cast<size_t>(c)];
  return static_cast<float>(double{x_scale} * scale / unit());
}

float Requantize::added(float bias) const { return static_cast<float>(bias / unit()); }

QuantEpilogue Requantize::epilogue() const {
  QuantEpilogue e;
  e.floats = floats();
  const double to = floats() ? 1.0 : y_scale;
  if (!e.floats) {
    e.low = static_cast<float>(y_low - y_zero), e.high = static_cast<float>(y_high - y_zero);
    e.zero = y_zero;
  }
  if (first_scale != 0) {
    e.first_scale = static_cast<float>(first_scale / to);
    e.first_low = static_cast<float>(first_low - first_zero);
    e.first_high = static_cast<float>(first_high - first_zero);
  }
  e.added_scale = static_cast<float>(z_scale / to);
  e.added = static_cast<float>(-double{z_scale} * z_zero / to);
  return e;
}

float finish_quantized(const QuantEpilogue& e, int32_t sum, float factor, float added,
                       const uint8_t* residual) {
  const auto within = [](float v, float low, float high) {
    v = v > low ? v : low;
    return v < high ? v : high;
  };
  float v = std::fma(static_cast<float>(sum), factor, added);
  if (residual) {
    const float z = std::fma(static_cast<float>(*residual), e.added_scale, e.added);
    v = e.first_scale == 0
            ? v + z
            : std::fma(std::nearbyint(within(v, e.first_low, e.first_high)), e.first_scale, z);
  }
  v = within(v, e.low, e.high);
  return e.floats ? v : std::nearbyint(v) + static_cast<float>(e.zero);
}

void store_quantized(const QuantEpilogue& e, int32_t sum, float factor, float added,
                     const uint8_t* residual, std::byte* out, int64_t at) {
  const float y = finish_quantized(e, sum, factor, added, residual ? residual + at : nullptr);
  if (e.floats) {
    reinterpret_cast<float*>(out)[at] = y;
  } else {
    reinterpret_cast<uint8_t*>(out)[at] = static_cast<uint8_t>(y);
  }
}

}  // namespace anynpu::ops::quantize
