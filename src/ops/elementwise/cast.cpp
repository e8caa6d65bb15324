// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike between all number types and bool.
#include "ops/blocked_layout.h"
#include "ops/elements/cast_attributes.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "tensor/half_arrays.h"
#include "tensor/onnx_type.h"

namespace anynpu::ops::elementwise {

namespace {

constexpr DTypeSet kCastable = kNumbers | kSmallFloats | DTypeSet{DType::boolean, DType::i4};

Status cast_rule(OpContext& context) {
  DType to = DType::undefined;
  if (context.schema->name == "CastLike") {
    to = context.inputs[1].dtype;
  } else {
    const int64_t number = context.int_attr("to");
    to = dtype_of_cast_number(number);
    if (to == DType::undefined) return dtype_of_onnx(context, number).status();
  }
  if (!kCastable.has(to)) {
    return fail(Code::unsupported_dtype, "{}: casts to {} are not supported; expected one of {}",
                context.label(), name_of(to), kCastable.to_string());
  }
  const std::string mode = context.string_attr("round_mode");
  if (!mode.empty() && mode != "up" && mode != "down" && mode != "nearest") {
    return fail(Code::invalid_argument, "{}: round_mode is '{}', expected up, down or nearest",
                context.label(), mode);
  }
  context.outputs[0].dtype = to;
  context.outputs[0].shape = context.inputs[0].shape;
  context.outputs[0].has_shape = context.inputs[0].has_shape;
  return {};
}

PlanResult plan_cast(const OpContext& context) {
  const BlockOp copy{.float64 = apply1<[](double x, const Params&) { return x; }, double>,
                     .int64 = apply1<[](int64_t x, const Params&) { return x; }, int64_t>,
                     .uint64 = apply1<[](uint64_t x, const Params&) { return x; }, uint64_t>,
                     .rule = small_float_rule(context)};
  OpContext one = context;
  one.inputs.resize(1);
  return plan_blocks(one, copy, wide_kind(context.inputs[0].dtype), {});
}

constexpr DTypeSet kShort{DType::f16, DType::bf16};

Status can_run_short_cast(const OpContext& context) {
  const DType from = context.inputs[0].dtype, to = context.outputs[0].dtype;
  if ((from == DType::f32 && kShort.has(to)) || (kShort.has(from) && to == DType::f32)) return {};
  return fail(Code::unsupported_dtype, "{} to {}, takes float32 and a 16-bit float", name_of(from),
              name_of(to));
}

// float32 <-> float16 or bfloat16, in any layout.
PlanResult plan_short_cast(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const DType from = x.dtype, to = context.outputs[0].dtype;
  const auto count = static_cast<size_t>(stored_elements(x.shape, x.layout));
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, size_t{1} << 14, [&](size_t begin, size_t end) {
      if (from == DType::f32) {
        narrow(to, input_of<float>(args, 0) + begin, args.outputs[0] + begin * 2, end - begin);
      } else {
        widen(from, args.inputs[0] + begin * 2, output_of<float>(args, 0) + begin, end - begin);
      }
    });
  });
  plan->input_layouts = {x.layout};
  plan->output_layouts = {x.layout};
  return plan;
}

}  // namespace

std::vector<KernelLine> short_cast_kernels(std::string_view op) {
  if (op != "Cast" && op != "CastLike") return {};
  return {{"short_cast",
           {DType::f32, DType::f16, DType::bf16},
           can_run_short_cast,
           create_plain<plan_short_cast>}};
}

void register_cast(Registry& registry) {
  const std::vector<AttrSchema> to = {{"to", AttrKind::i, {}, true}};
  OpSchema schema{.name = "Cast",
                  .since = 6,
                  .inputs = {{"input", "T"}},
                  .outputs = {{"output", "U"}},
                  .types = {{"T", kCastable}},
                  .attrs = to,
                  .traits = OpTraits::elementwise()
                                .with(PrecisionClass::fixed)
                                .with(Rounding::exact)
                                .with(StatedShape::of_first),
                  .shape = cast_rule};
  registry.add(schema);
  schema.since = 19;
  const AttrSchema saturate{"saturate", AttrKind::i, int64_t{1}};
  const AttrSchema round_mode{"round_mode", AttrKind::s, std::string_view("up")};
  schema.attrs.push_back(saturate);
  registry.add(schema);
  schema.since = 24;
  schema.attrs.push_back(round_mode);
  registry.add(schema);
  schema.name = "CastLike";
  schema.traits = OpTraits::linear().with(PrecisionClass::fixed).with(StatedShape::of_first);
  schema.inputs.push_back({"target_type", "V"});
  schema.attrs.clear();
  schema.since = 15;
  registry.add(schema);
  schema.since = 19;
  schema.attrs = {saturate};
  registry.add(schema);
  schema.since = 24;
  schema.attrs.push_back(round_mode);
  registry.add(schema);
  for (std::string_view name : {"Cast", "CastLike"})
    add_list(registry, name, {"wide_cast", kCastable, nullptr, create_plain<plan_cast>});
}

}  // namespace anynpu::ops::elementwise
