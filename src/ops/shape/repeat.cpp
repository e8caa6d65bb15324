// SPDX-License-Identifier: Apache-2.0
// Expand and Tile: strided copies that repeat.
#include "ops/broadcast.h"
#include "ops/data_movement/axes.h"
#include "ops/data_movement/strided_copy.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/shape/shape.h"

namespace anynpu::ops::shape {

namespace {

Status expand_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  const IntegerList wanted = integers_of(context.inputs[1]);
  if (!x.has_shape || !wanted.known) return {};
  ANYNPU_TRY(check_shape(wanted.values), "{}", context.label());
  ANYNPU_ASSIGN(Shape shape, broadcast(x.shape, wanted.values), "{}", context.label());
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_expand(const OpContext& context) {
  const Shape &in = context.inputs[0].shape, &out = context.outputs[0].shape;
  const auto strides = strides_of(in);
  std::vector<int64_t> steps(out.size(), 0);
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] != 1) steps[out.size() - in.size() + i] = strides[i];
  }
  return plan_strided_copy(out, steps, 0, size_of(context.inputs[0].dtype));
}

Status tile_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  const IntegerList repeats = integers_of(context.inputs[1]);
  if (!x.has_shape || !repeats.known) return {};
  Shape shape = x.shape;
  bool fits = repeats.values.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = repeats.values[i] >= 0;
    if (shape[i] == kDynamicDim) continue;
    fits = fits && !__builtin_mul_overflow(shape[i], repeats.values[i], &shape[i]);
  }
  if (!fits) {
    return fail(Code::invalid_argument,
                "{}: repeats {} for input {}; expected one number of 0 or more per dimension",
                context.label(), repeats.values, to_string(x.shape));
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

// Each dimension becomes (repeats, extent) with stride 0 for the repeats.
PlanResult plan_tile(const OpContext& context) {
  const Shape& in = context.inputs[0].shape;
  const IntegerList repeats = integers_of(context.inputs[1]);
  const auto strides = strides_of(in);
  Shape out;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < in.size(); ++i) {
    out.insert(out.end(), {repeats.values[i], in[i]});
    steps.insert(steps.end(), {0, strides[i]});
  }
  return plan_strided_copy(out, steps, 0, size_of(context.inputs[0].dtype));
}

}  // namespace

void register_repeat(Registry& registry) {
  OpSchema schema{.name = "Expand",
                  .since = 8,
                  .inputs = {{"input", "T"}, {"shape", "I"}},
                  .outputs = {{"output", "T"}},
                  .types = {{"T", kAnyFixed}, {"I", {DType::i64}}},
                  .traits = OpTraits::data_movement().with(SizedBy::parameters),
                  .shape = expand_rule};
  registry.add(schema);
  schema.name = "Tile";
  schema.since = 6;
  schema.shape = tile_rule;
  registry.add(schema);
  registry.add(KernelDef{.op = "Expand",
                         .name = "strided_copy",
                         .types = kAnyFixed,
                         .create = create_with_runtime_params<plan_expand, 2>});
  registry.add(KernelDef{.op = "Tile",
                         .name = "strided_copy",
                         .types = kAnyFixed,
                         .create = create_with_runtime_params<plan_tile, 2>});
}

}  // namespace anynpu::ops::shape
