// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear (per tensor, per axis, blocked) and DynamicQuantizeLinear.
#include "ops/quantize/linear.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/align.h"
#include "ops/data_movement/axes.h"
#include "ops/elements/cast_attributes.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::quantize {

double QuantParameter::at(const RunArgs& args, int64_t index, double otherwise) const {
  if (input < 0) return otherwise;
  return load_one<double>(type, args.inputs[static_cast<size_t>(input)], each ? index : 0);
}

namespace {

constexpr DTypeSet kQuantised =
    DTypeSet{DType::u8, DType::i8, DType::u16, DType::i16, DType::i4} | kFloat8 | kFloat6 | kFloat4;
constexpr DTypeSet kScaled = kFloats | DTypeSet{DType::i32};

struct Range {
  double low = 0, high = 255;
};
Range range_of(DType type) {
  switch (type) {
    case DType::i4:
      return {-8, 7};
    case DType::i8:
      return {-128, 127};
    case DType::u16:
      return {0, 65535};
    case DType::i16:
      return {-32768, 32767};
    default:
      return {0, 255};
  }
}

double rounded_to(DType type, double value) {
  switch (type) {
    case DType::f64:
      return value;
    case DType::f16:
      return to_float(to_f16(static_cast<float>(value)));
    case DType::bf16:
      return to_float(to_bf16(static_cast<float>(value)));
    default:
      return static_cast<float>(value);
  }
}

Status quantize_rule(OpContext& context) {
  DType to = context.has_input(2) ? context.inputs[2].dtype : DType::u8;
  if (!context.has_input(2) && context.int_attr("output_dtype") != 0) {
    ANYNPU_ASSIGN(to, dtype_of_onnx(context, context.int_attr("output_dtype")));
  }
  if (!kQuantised.has(to)) {
    return fail(Code::unsupported_dtype, "{}: quantised type {}, expected one of {}",
                context.label(), name_of(to), kQuantised.to_string());
  }
  ANYNPU_TRY(division_type(context).status());
  context.outputs[0].dtype = to;
  if (!context.inputs[0].has_shape) return {};
  if (context.inputs[0].fully_known() && context.inputs[1].fully_known()) {
    ANYNPU_TRY(scale_walk(context).status());
  }
  return set_output(context, 0, to, context.inputs[0].shape);
}

// body(value, scale, zero) -> value, for every element.
template <typename Body>
PlanResult plan_scaled(const OpContext& context, Body body) {
  ANYNPU_ASSIGN(const ScaleWalk walk, scale_walk(context));
  const DType from = context.inputs[0].dtype, scale_type = context.inputs[1].dtype;
  const bool has_zero = context.has_input(2);
  const auto load = load_block<double>(from), load_scale = load_block<double>(scale_type);
  const auto load_zero = load_block<double>(has_zero ? context.inputs[2].dtype : DType::u8);
  const auto store = store_block<double>(context.outputs[0].dtype, small_float_rule(context));
  if (!load || !load_scale || !load_zero || !store) return no_kernel_for(context);
  const int64_t count = element_count(context.inputs[0].shape);
  const size_t least =
      stored_in_bytes(context.outputs[0].dtype) ? 2048 : static_cast<size_t>(count);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(count), least, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        double value = 0, scale = 1, zero = 0;
        const int64_t place = walk.place(i);
        load(args.inputs[0], i, 0, &value, 1);
        load_scale(args.inputs[1], place, 0, &scale, 1);
        if (has_zero) load_zero(args.inputs[2], place, 0, &zero, 1);
        value = body(value, scale, zero);
        store(args.outputs[0], i, &value, 1);
      }
    });
  });
}

PlanResult plan_quantize(const OpContext& context) {
  const DType to = context.outputs[0].dtype;
  const bool whole = !is_floating(to);
  const Range range = range_of(to);
  ANYNPU_ASSIGN(const DType precision, division_type(context));
  return plan_scaled(context, [=](double x, double scale, double zero) {
    const double quotient =
        rounded_to(precision, rounded_to(precision, x) / rounded_to(precision, scale));
    if (!whole) return quotient + zero;
    return std::clamp(std::nearbyint(quotient) + zero, range.low, range.high);
  });
}

Status dequantize_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  DType to = context.inputs[1].dtype;
  if (context.int_attr("output_dtype") != 0) {
    ANYNPU_ASSIGN(to, dtype_of_onnx(context, context.int_attr("output_dtype")));
  }
  if (!kFloats.has(to)) {
    return fail(Code::unsupported_dtype,
                "{}: the result is {}, expected one of {}; state it by output_dtype",
                context.label(), name_of(to), kFloats.to_string());
  }
  context.outputs[0].dtype = to;
  if (!x.has_shape) return {};
  if (x.fully_known() && context.inputs[1].fully_known()) ANYNPU_TRY(scale_walk(context).status());
  return set_output(context, 0, to, x.shape);
}

PlanResult plan_dequantize(const OpContext& context) {
  return plan_scaled(context,
                     [](double x, double scale, double zero) { return (x - zero) * scale; });
}

Status dynamic_rule(OpContext& context) {
  context.outputs[0].dtype = DType::u8;
  ANYNPU_TRY(set_output(context, 1, DType::f32, {}));
  ANYNPU_TRY(set_output(context, 2, DType::u8, {}));
  if (!context.inputs[0].has_shape) return {};
  return set_output(context, 0, DType::u8, context.inputs[0].shape);
}

PlanResult plan_dynamic(const OpContext& context) {
  const int64_t count = element_count(context.inputs[0].shape);
  return make_plan([=](const RunArgs& args) {
    const float* x = input_of<float>(args, 0);
    float low = 0, high = 0;
    for (int64_t i = 0; i < count; ++i) low = std::min(low, x[i]), high = std::max(high, x[i]);
    const auto [scale, zero] = dynamic_scale(low, high);
    for (int64_t i = 0; i < count; ++i) {
      const float q = scale == 0 ? zero : std::nearbyint(x[i] / scale) + zero;
      output_of<uint8_t>(args, 0)[i] =
          std::isnan(q) ? uint8_t{0} : static_cast<uint8_t>(std::clamp(q, 0.0f, 255.0f));
    }
    if (args.outputs.size() > 1 && args.outputs[1]) *output_of<float>(args, 1) = scale;
    if (args.outputs.size() > 2 && args.outputs[2])
      *output_of<uint8_t>(args, 2) = static_cast<uint8_t>(zero);
  });
}

}  // namespace

ScaleWalk::ScaleRow ScaleWalk::row(int64_t i) const {
  if (per_tensor) return {count, 0, false};
  const int64_t line = i / inner, along = line % extent;
  if (!blocked) {
    if (inner == 1) return {i + extent - along, along, true};
    return {(line + 1) * inner, along, false};
  }
  const int64_t scale = line / extent * scales + along / block;
  if (inner == 1) return {i - along + std::min(extent, (along / block + 1) * block), scale, false};
  return {(line + 1) * inner, scale * inner + i % inner, true};
}

Result<ScaleWalk> scale_walk(const OpContext& context) {
  const Operand &x = context.inputs[0], &scale = context.inputs[1];
  ScaleWalk walk;
  walk.count = element_count(x.shape);
  if (context.has_input(2) && context.inputs[2].fully_known() &&
      element_count(context.inputs[2].shape) != element_count(scale.shape)) {
    return fail(Code::shape_mismatch,
                "{}: zero point {} does not fit scale {}; expected as many elements",
                context.label(), to_string(context.inputs[2].shape), to_string(scale.shape));
  }
  if (element_count(scale.shape) == 1 && scale.rank() <= 1) return walk;
  walk.per_tensor = false;
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  const auto at = static_cast<size_t>(axis);
  walk.extent = std::max<int64_t>(1, x.shape[at]);
  for (size_t i = at + 1; i < x.shape.size(); ++i) walk.inner *= x.shape[i];
  bool fits = false;
  if (scale.rank() == 1) {
    fits = scale.shape[0] == x.shape[at];
  } else if (scale.rank() == x.rank()) {
    walk.blocked = true;
    walk.block = context.int_attr("block_size");
    walk.scales = scale.shape[at];
    fits = walk.block > 0 && 1 + (walk.extent - 1) / walk.block == walk.scales;
    for (size_t i = 0; i < x.shape.size(); ++i)
      fits = fits && (i == at || x.shape[i] == scale.shape[i]);
  }
  if (fits) return walk;
  return fail(Code::shape_mismatch, "{}: scale {} does not fit input {} at axis {}",
              context.label(), to_string(scale.shape), to_string(x.shape), axis);
}

Result<DType> division_type(const OpContext& context) {
  if (const int64_t stated = context.int_attr("precision"); stated != 0) {
    ANYNPU_ASSIGN(const DType type, dtype_of_onnx(context, stated));
    if (kFloats.has(type)) return type;
    return fail(Code::unsupported_dtype, "{}: precision is {}, expected one of {}", context.label(),
                name_of(type), kFloats.to_string());
  }
  const DType x = context.inputs[0].dtype, scale = context.inputs[1].dtype;
  if (x == DType::f64 || scale == DType::f64) return DType::f64;
  return context.schema->since >= 23 && kFloats.has(scale) ? scale : DType::f32;
}

DynamicScale dynamic_scale(float low, float high) {
  const float scale = (high - low) / 255.0f, zero = std::nearbyint(-low / scale);
  return {scale, zero > 0 ? std::min(zero, 255.0f) : 0};
}

constexpr DTypeSet kStored = kQuantised | DTypeSet{DType::i32};

void add_schemas(Registry& registry) {
  OpSchema schema{
      .name = "QuantizeLinear",
      .since = 10,
      .inputs = {{"x", "T"}, {"y_scale", "S"}, {"y_zero_point", "Z", Presence::optional}},
      .outputs = {{"y", "Z"}},
      .types = {{"T", kScaled}, {"S", kScaled | kScaleFloat}, {"Z", kQuantised}},
      .traits = OpTraits::linear().with(PrecisionClass::fixed),
      .shape = quantize_rule};
  const AttrSchema axis{"axis", AttrKind::i, int64_t{1}};
  const AttrSchema block{"block_size", AttrKind::i, int64_t{0}};
  const AttrSchema saturate{"saturate", AttrKind::i, int64_t{1}};
  registry.add(schema);
  schema.attrs = {axis};
  schema.since = 13;
  registry.add(schema);
  schema.attrs.push_back(saturate);
  schema.since = 19;
  registry.add(schema);
  const AttrSchema output_dtype{"output_dtype", AttrKind::i, int64_t{0}};
  schema.attrs.insert(schema.attrs.end(), {block, output_dtype});
  schema.since = 21;
  registry.add(schema);
  schema.attrs.push_back({"precision", AttrKind::i, int64_t{0}});
  schema.since = 23;
  registry.add(schema);
  schema =
      OpSchema{.name = "DequantizeLinear",
               .since = 10,
               .inputs = {{"x", "T"}, {"x_scale", "S"}, {"x_zero_point", "T", Presence::optional}},
               .outputs = {{"y", "Y"}},
               .types = {{"T", kStored}, {"S", kFloats | kScaleFloat}},
               .traits = OpTraits::linear().with(PrecisionClass::fixed),
               .shape = dequantize_rule};
  registry.add(schema);
  schema.attrs = {axis};
  schema.since = 13;
  registry.add(schema);
  schema.attrs.push_back(block);
  schema.since = 21;
  registry.add(schema);
  schema.attrs.push_back(output_dtype);
  schema.since = 23;
  registry.add(schema);
  registry.add(OpSchema{.name = "DynamicQuantizeLinear",
                        .since = 11,
                        .inputs = {{"x", "T"}},
                        .outputs = {{"y", "Q"}, {"y_scale", "S"}, {"y_zero_point", "Q"}},
                        .types = {{"T", {DType::f32}}},
                        .traits = OpTraits::general().with(PrecisionClass::fixed),
                        .shape = dynamic_rule});
}

KernelLine reference_kernel(std::string_view op) {
  if (op == "QuantizeLinear") return {"reference", kScaled, nullptr, create_plain<plan_quantize>};
  if (op == "DequantizeLinear")
    return {"reference", kStored, nullptr, create_plain<plan_dequantize>};
  return {"reference", {DType::f32}, nullptr, create_plain<plan_dynamic>};
}

}  // namespace anynpu::ops::quantize
