// SPDX-License-Identifier: Apache-2.0
// What the integers of QuantizedConv and QuantizedMatMul stand for. Both read unsigned bytes and
// signed constant weights whose zero is 0; the result is bytes, or floats where y_scale is 0:
//   y = sum of (x - x_zero) * w, times x_scale * w_scale of the channel, + bias
//   with a residual: y, rounded to (first_scale, first_zero) within [first_low, first_high] when
//   first_scale is not 0, + (z - z_zero) * z_scale
//   rounded to (y_scale, y_zero) within [y_low, y_high]
// It is what DequantizeLinear, a product, Relu and QuantizeLinear compute one after the other.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ops/schema.h"
#include "ops/simd/tile_quant.h"

namespace anynpu::ops::quantize {

struct Requantize {
  float x_scale = 1;
  int32_t x_zero = 0;
  std::vector<float> w_scales;  // one, or one per channel
  float y_scale = 0;
  int32_t y_zero = 0, y_low = 0, y_high = 255;
  float z_scale = 1;
  int32_t z_zero = 0;
  float first_scale = 0;
  int32_t first_zero = 0, first_low = 0, first_high = 255;

  // Of a node with `channels` output channels; fails on values that mean nothing.
  static Result<Requantize> of(const OpContext& context, int64_t channels);
  void write(graph::Node& node) const;

  bool floats() const { return y_scale == 0; }
  QuantEpilogue epilogue() const;
  // The factor of the sums of channel c, and what is added to them afterwards.
  float factor(int64_t c) const;
  float added(float bias) const;

 private:
  // The unit that sums are scaled to: of what rounds first, of the result, or 1.
  double unit() const;
};

// The attributes, for schemas.
std::vector<AttrSchema> requantize_attributes();

// The schema of such an operator, with `attrs` of its own besides. Inputs are bytes, signed
// weights, a bias (optional) and Z (optional), the tensor to add; `inputs` names the first three.
OpSchema quantized_schema(std::string_view name, const std::array<const char*, 3>& inputs,
                          const std::vector<AttrSchema>& attrs, const OpTraits& traits,
                          ShapeRule rule);
// The type of its result, and its shape, which Z must have too.
DType quantized_type(const OpContext& context);
Status set_quantized_output(OpContext& context, Shape shape);

// The epilogue in plain C++, to the bit as in registers.
float finish_quantized(const QuantEpilogue& e, int32_t sum, float factor, float added,
                       const uint8_t* residual);
// The same for element `at` of the result, which is stored. `residual`: all of Z, or null.
void store_quantized(const QuantEpilogue& e, int32_t sum, float factor, float added,
                     const uint8_t* residual, std::byte* out, int64_t at);

}  // namespace anynpu::ops::quantize
