// SPDX-License-Identifier: Apache-2.0
// Slice: bounds are attributes up to opset 9 and inputs from opset 10; steps may be negative.
#include <algorithm>

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

struct Cut {
  bool known = true;
  Shape shape;                       // of the output
  std::vector<int64_t> start, step;  // per dimension of the input
};

IntegerList list_of(const OpContext& context, size_t input, std::string_view attr) {
  if (context.schema->since >= 10) return integers_of(context.inputs[input]);
  IntegerList list;
  list.present = list.known = context.has_attr(attr);
  list.values = context.ints_attr(attr);
  return list;
}

Status cut_axis(const OpContext& context, int64_t extent, int64_t start, int64_t end, int64_t step,
                size_t axis, Cut& cut) {
  if (step == 0)
    return fail(Code::invalid_argument, "{}: a step is 0, expected another number",
                context.label());
  // Far outside values stand for "to the end": adding to them must not overflow.
  const auto bound = [&](int64_t at, int64_t low, int64_t high) {
    if (at < 0) at = at < -extent ? low : at + extent;
    return std::clamp(at, low, high);
  };
  const int64_t from = step > 0 ? bound(start, 0, extent) : bound(start, -1, extent - 1);
  const int64_t to = step > 0 ? bound(end, 0, extent) : bound(end, -1, extent - 1);
  const int64_t distance = step > 0 ? to - from : from - to;
  const auto stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  cut.shape[axis] =
      distance <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1;
  cut.start[axis] = from;
  cut.step[axis] = cut.shape[axis] <= 1 ? 1 : step;
  return {};
}

Result<Cut> cut_of(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const IntegerList starts = list_of(context, 1, "starts"), ends = list_of(context, 2, "ends");
  IntegerList axes = list_of(context, 3, "axes"), steps = list_of(context, 4, "steps");
  Cut cut{true, shape, std::vector<int64_t>(shape.size(), 0),
          std::vector<int64_t>(shape.size(), 1)};
  cut.known = starts.known && ends.known && (!axes.present || axes.known) &&
              (!steps.present || steps.known);
  if (!cut.known) return cut;
  const size_t count = starts.values.size();
  if (!axes.present) {
    for (size_t i = 0; i < count; ++i) axes.values.push_back(static_cast<int64_t>(i));
  }
  if (!steps.present) steps.values.assign(count, 1);
  if (ends.values.size() != count || axes.values.size() != count || steps.values.size() != count) {
    return fail(Code::invalid_argument,
                "{}: {} starts, {} ends, {} axes and {} steps; expected the same number of each",
                context.label(), count, ends.values.size(), axes.values.size(),
                steps.values.size());
  }
  for (size_t i = 0; i < count; ++i) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, axes.values[i], rank));
    const auto at = static_cast<size_t>(axis);
    if (shape[at] == kDynamicDim) {
      cut.shape[at] = kDynamicDim;
      continue;
    }
    ANYNPU_TRY(
        cut_axis(context, shape[at], starts.values[i], ends.values[i], steps.values[i], at, cut));
  }
  return cut;
}

Status slice_rule(OpContext& context) {
  context.outputs[0].dtype = context.inputs[0].dtype;
  if (!context.inputs[0].has_shape) return {};
  ANYNPU_ASSIGN(Cut cut, cut_of(context));
  if (!cut.known) return {};
  return set_output(context, 0, context.inputs[0].dtype, std::move(cut.shape));
}

// Blocked tensors stay so: whole channels are copied pixel by pixel, some of them range by range.
Result<std::unique_ptr<KernelPlan>> plan_blocked_slice(const OpContext& context, const Cut& cut) {
  const Operand& x = context.inputs[0];
  const bool all_channels = cut.step[1] == 1 && cut.shape[1] == x.shape[1];
  if (!all_channels) {
    Shape rest = x.shape;
    rest[1] = cut.shape[1];
    const bool one_step =
        std::all_of(cut.step.begin(), cut.step.end(), [](int64_t step) { return step == 1; });
    if (!one_step || rest != cut.shape) return std::unique_ptr<KernelPlan>();
    return plan_channel_ranges(x, {{cut.start[1], cut.shape[1]}});
  }
  Shape in = x.shape, out = cut.shape;
  in[1] = out[1] = ceil_div(x.shape[1], kBlock);
  in.push_back(kBlock), out.push_back(kBlock);
  std::vector<int64_t> strides = strides_of(in);
  int64_t offset = 0;
  for (size_t i = 0; i < cut.start.size(); ++i) {
    if (i == 1) continue;
    offset += cut.start[i] * strides[i];
    strides[i] *= cut.step[i];
  }
  auto plan = plan_strided_copy(out, strides, offset, size_of(x.dtype));
  plan->input_layouts.assign(context.inputs.size(), Layout::plain);
  plan->input_layouts[0] = Layout::blocked16;
  plan->output_layouts = {Layout::blocked16};
  return plan;
}

PlanResult plan_slice(const OpContext& context) {
  ANYNPU_ASSIGN(const Cut cut, cut_of(context));
  const bool stated = std::all_of(context.inputs.begin() + 1, context.inputs.end(),
                                  [](const Operand& x) { return !x.present || x.is_constant; });
  if (stated && context.inputs[0].layout == Layout::blocked16 && can_block(context.inputs[0])) {
    ANYNPU_ASSIGN(auto plan, plan_blocked_slice(context, cut));
    if (plan) return plan;
  }
  std::vector<int64_t> strides = strides_of(context.inputs[0].shape);
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += cut.start[i] * strides[i];
    strides[i] *= cut.step[i];
  }
  return plan_strided_copy(context.outputs[0].shape, strides, offset,
                           size_of(context.inputs[0].dtype));
}

}  // namespace

void register_slice(Registry& registry) {
  registry.add(OpSchema{.name = "Slice",
                        .since = 1,
                        .inputs = {{"data", "T"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kAnyFixed}},
                        .attrs = {{"starts", AttrKind::ints, {}, true},
                                  {"ends", AttrKind::ints, {}, true},
                                  {"axes", AttrKind::ints}},
                        .traits = OpTraits::data_movement().with(SizedBy::parameters),
                        .shape = slice_rule});
  registry.add(OpSchema{.name = "Slice",
                        .since = 10,
                        .inputs = {{"data", "T"},
                                   {"starts", "I"},
                                   {"ends", "I"},
                                   {"axes", "I", Presence::optional},
                                   {"steps", "I", Presence::optional}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kAnyFixed}, {"I", {DType::i32, DType::i64}}},
                        .traits = OpTraits::data_movement().with(SizedBy::parameters),
                        .shape = slice_rule});
  registry.add(KernelDef{.op = "Slice",
                         .name = "strided_copy",
                         .types = kAnyFixed,
                         .create = create_with_runtime_params<plan_slice, 0b11110>});
}

}  // namespace anynpu::ops::shape
