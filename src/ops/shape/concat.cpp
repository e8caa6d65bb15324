// SPDX-License-Identifier: Apache-2.0
// Concat: each input is a run of bytes per outer index. Stays blocked along the channels where most
// elements come in blocks.
#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/data_movement/axes.h"
#include "ops/data_movement/blocked_channels.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"

namespace anynpu::ops::shape {

namespace {

Status concat_rule(OpContext& context) {
  Operand& y = context.outputs[0];
  y.dtype = context.inputs[0].dtype;
  for (const Operand& input : context.inputs) {
    if (!input.has_shape) return {};
  }
  Shape shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const auto at = static_cast<size_t>(axis);
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const Shape& other = context.inputs[i].shape;
    bool fits = other.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      if (d == at) continue;
      fits = other[d] == shape[d] || other[d] == kDynamicDim || shape[d] == kDynamicDim;
      if (shape[d] == kDynamicDim) shape[d] = other[d];
    }
    if (!fits) {
      return fail(Code::shape_mismatch,
                  "{}: inputs 0 and {} are {} and {}, expected the same extents except on axis {}",
                  context.label(), i, to_string(context.inputs[0].shape), to_string(other), axis);
    }
    const bool dynamic = shape[at] == kDynamicDim || other[at] == kDynamicDim;
    shape[at] = dynamic ? kDynamicDim : shape[at] + other[at];
  }
  y.shape = shape;
  y.has_shape = true;
  return {};
}

bool stays_blocked(const OpContext& context, size_t axis) {
  if (axis != 1) return false;
  int64_t all = 0, blocked = 0;
  for (const Operand& input : context.inputs) {
    const bool bytes = input.fully_known() && input.rank() >= 3 && size_of(input.dtype) == 1;
    if (!can_block(input) && !bytes) return false;
    all += element_count(input.shape);
    if (input.layout == Layout::blocked16) blocked += element_count(input.shape);
  }
  return blocked > 0 && blocked * 2 >= all;
}

// Inputs begin anywhere in a block.
PlanResult plan_channels(const OpContext& context) {
  std::vector<int64_t> counts;
  for (const Operand& input : context.inputs) counts.push_back(input.shape[1]);
  const Shape& out = context.outputs[0].shape;
  const int64_t batch = out[0], channels = out[1];
  const BlockedChannels copy = BlockedChannels::of(context.outputs[0]);
  auto plan = make_plan([=](const RunArgs& args) {
    copy.for_each_part(batch, [&](int64_t n, const BlockedChannels& part) {
      std::byte* y = args.outputs[0] + n * part.image_bytes(channels);
      int64_t at = 0;
      for (size_t i = 0; i < counts.size(); ++i) {
        part.copy(args.inputs[i] + n * part.image_bytes(counts[i]), 0, y, at, counts[i]);
        at += counts[i];
      }
      part.clear(y, channels, round_up(channels, kBlock) - channels);
    });
  });
  plan->input_layouts.assign(context.inputs.size(), Layout::blocked16);
  plan->output_layouts = {Layout::blocked16};
  return plan;
}

PlanResult plan_concat(const OpContext& context) {
  const Shape& out = context.outputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const auto at = static_cast<size_t>(axis);
  // Whole blocks of channels are contiguous in both layouts, so the same runs serve both.
  const bool blocked = stays_blocked(context, at);
  if (blocked && !std::all_of(context.inputs.begin(), context.inputs.end(),
                              [](const Operand& x) { return x.shape[1] % kBlock == 0; }))
    return plan_channels(context);
  size_t outer = 1;
  for (size_t i = 0; i < at; ++i) outer *= static_cast<size_t>(out[i]);
  size_t inner = size_of(context.outputs[0].dtype);
  for (size_t i = at + 1; i < out.size(); ++i) inner *= static_cast<size_t>(out[i]);
  std::vector<size_t> runs;
  size_t total = 0;
  for (const Operand& input : context.inputs) {
    runs.push_back(inner * static_cast<size_t>(input.shape[at]));
    total += runs.back();
  }
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(outer, std::max<size_t>(1, (size_t{64} << 10) / std::max<size_t>(total, 1)),
             [&](size_t begin, size_t end) {
               for (size_t i = begin; i < end; ++i) {
                 std::byte* y = args.outputs[0] + i * total;
                 for (size_t input = 0; input < runs.size(); ++input) {
                   const size_t run = runs[input];
                   if (run > 0) std::memcpy(y, args.inputs[input] + i * run, run);
                   y += run;
                 }
               }
             });
  });
  const Layout layout = blocked ? Layout::blocked16 : Layout::plain;
  plan->input_layouts.assign(context.inputs.size(), layout);
  plan->output_layouts = {layout};
  return plan;
}

}  // namespace

void register_concat(Registry& registry) {
  OpSchema schema{.name = "Concat",
                  .since = 1,
                  .inputs = {{"inputs", "T", Presence::variadic}},
                  .outputs = {{"concat_result", "T"}},
                  .types = {{"T", kAnyFixed}},
                  .attrs = {{"axis", AttrKind::i, int64_t{1}}},
                  .traits = OpTraits::data_movement().with(TransposeRule::axis),
                  .shape = concat_rule};
  registry.add(schema);
  schema.since = 4;
  schema.attrs = {{"axis", AttrKind::i, {}, true}};
  registry.add(schema);
  registry.add(KernelDef{.op = "Concat",
                         .name = "concat_runs",
                         .types = kAnyFixed,
                         .create = create_plain<plan_concat>});
}

}  // namespace anynpu::ops::shape
