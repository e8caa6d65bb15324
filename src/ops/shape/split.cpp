// SPDX-License-Identifier: Apache-2.0
// Split: one strided copy per output. Sizes: equal parts, the attribute `split` (up to opset 12) or
// an input (from 13); from 18 the number of outputs may be given and the last part be smaller.
#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/data_movement/axes.h"
#include "ops/data_movement/blocked_channels.h"
#include "ops/data_movement/strided_copy.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/shape/shape.h"

namespace anynpu::ops::shape {

namespace {

struct Parts {
  bool known = true;
  int64_t axis = 0;
  std::vector<int64_t> sizes;
};

Result<Parts> parts_of(const OpContext& context) {
  Parts parts;
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(parts.axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  const int64_t extent = x.shape[static_cast<size_t>(parts.axis)];
  const auto count = static_cast<int64_t>(context.outputs.size());
  if (context.has_input(1)) {
    const IntegerList list = integers_of(context.inputs[1]);
    parts.known = list.known;
    parts.sizes = list.values;
    if (!list.known) return parts;
  } else if (context.has_attr("split")) {
    parts.sizes = context.ints_attr("split");
  } else {
    if (extent == kDynamicDim) {
      parts.sizes.assign(static_cast<size_t>(count), kDynamicDim);
      return parts;
    }
    const int64_t each = ceil_div(extent, count);
    parts.sizes.assign(static_cast<size_t>(count), each);
    parts.sizes.back() = extent - each * (count - 1);
  }
  int64_t sum = 0;
  bool fits = static_cast<int64_t>(parts.sizes.size()) == count;
  for (int64_t size : parts.sizes) {
    fits = fits && size >= 0 && size <= (int64_t{1} << 50);
    sum += fits ? size : 0;
  }
  if (!fits || (extent != kDynamicDim && sum != extent)) {
    return fail(Code::shape_mismatch, "{}: sizes {} do not cut extent {} into {} outputs",
                context.label(), parts.sizes, extent, count);
  }
  return parts;
}

Status split_rule(OpContext& context) {
  const Operand x = context.inputs[0];
  for (Operand& output : context.outputs) output.dtype = x.dtype;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const Parts parts, parts_of(context));
  if (!parts.known) return {};
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    Shape shape = x.shape;
    shape[static_cast<size_t>(parts.axis)] = parts.sizes[i];
    ANYNPU_TRY(set_output(context, i, x.dtype, std::move(shape)));
  }
  return {};
}

PlanResult plan_split(const OpContext& context) {
  ANYNPU_ASSIGN(const Parts parts, parts_of(context));
  const bool stated = !context.has_input(1) || context.inputs[1].is_constant;
  if (stated && parts.axis == 1 && context.inputs[0].layout == Layout::blocked16 &&
      can_block(context.inputs[0])) {
    std::vector<ChannelRange> ranges;
    for (int64_t first = 0; const int64_t size : parts.sizes) {
      ranges.push_back({first, size});
      first += size;
    }
    return plan_channel_ranges(context.inputs[0], std::move(ranges));
  }
  const auto strides = strides_of(context.inputs[0].shape);
  std::vector<std::shared_ptr<const KernelPlan>> copies;
  int64_t offset = 0;
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    copies.push_back(plan_strided_copy(context.outputs[i].shape, strides, offset,
                                       size_of(context.inputs[0].dtype)));
    if (!context.outputs[i].present) copies.back() = nullptr;
    offset += parts.sizes[i] * strides[static_cast<size_t>(parts.axis)];
  }
  return make_checked_plan([copies](const RunArgs& args) -> Status {
    for (size_t i = 0; i < copies.size(); ++i) {
      if (!copies[i]) continue;
      RunArgs one = args;
      one.outputs = args.outputs.subspan(i, 1);
      ANYNPU_TRY(copies[i]->run(one));
    }
    return {};
  });
}

}  // namespace

void register_split(Registry& registry) {
  const AttrSchema axis{"axis", AttrKind::i, int64_t{0}};
  OpSchema schema{.name = "Split",
                  .since = 2,
                  .inputs = {{"input", "T"}},
                  .outputs = {{"outputs", "T", Presence::variadic}},
                  .types = {{"T", kAnyFixed}},
                  .attrs = {axis, {"split", AttrKind::ints}},
                  .traits = OpTraits::data_movement().with(SizedBy::parameters),
                  .shape = split_rule};
  registry.add(schema);
  schema.since = 13;
  schema.inputs.push_back({"split", "I", Presence::optional});
  schema.types.push_back({"I", {DType::i64}});
  schema.attrs = {axis};
  registry.add(schema);
  schema.since = 18;
  schema.attrs.push_back({"num_outputs", AttrKind::i});
  registry.add(schema);
  registry.add(KernelDef{.op = "Split",
                         .name = "strided_copy",
                         .types = kAnyFixed,
                         .create = create_with_runtime_params<plan_split, 2>});
}

}  // namespace anynpu::ops::shape
