// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/data_movement/blocked_channels.h"
#include "ops/data_movement/strided_copy.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/unpacked.h"

namespace anynpu::ops::shape {

namespace {

Result<std::vector<int64_t>> permutation_of(const OpContext& context) {
  const int64_t rank = context.inputs[0].rank();
  std::vector<int64_t> order = context.ints_attr("perm");
  if (!context.has_attr("perm")) {
    for (int64_t i = rank; i-- > 0;) order.push_back(i);
  }
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  bool valid = static_cast<int64_t>(order.size()) == rank;
  for (size_t i = 0; valid && i < order.size(); ++i) {
    valid = order[i] >= 0 && order[i] < rank && !seen[static_cast<size_t>(order[i])];
    if (valid) seen[static_cast<size_t>(order[i])] = true;
  }
  if (!valid) {
    return fail(Code::invalid_argument, "{}: perm is {}, expected each of 0 to {} once",
                context.label(), order, rank - 1);
  }
  return order;
}

Status transpose_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const auto order, permutation_of(context));
  for (int64_t axis : order) context.outputs[0].shape.push_back(x.shape[static_cast<size_t>(axis)]);
  context.outputs[0].has_shape = true;
  return {};
}

// Channels from the second place to the last, or back.
bool moves_channels(const std::vector<int64_t>& order, bool to_last) {
  const auto rank = static_cast<int64_t>(order.size());
  for (int64_t i = 1; i < rank; ++i) {
    const int64_t from = to_last ? (i + 1 < rank ? i + 1 : 1) : (i == 1 ? rank - 1 : i - 1);
    if (order[static_cast<size_t>(i)] != from) return false;
  }
  return rank >= 3 && order[0] == 0;
}

// Between blocks of channels and pixels of all channels.
PlanResult plan_channel_move(const OpContext& context, bool to_last) {
  const Operand& blocked = (to_last ? context.inputs : context.outputs)[0];
  const BlockedChannels move = BlockedChannels::of(blocked);
  const int64_t batch = blocked.shape[0], channels = blocked.shape[1];
  const int64_t image = move.pixels * static_cast<int64_t>(move.element) * channels;
  auto plan = make_plan([=](const RunArgs& args) {
    const auto work = [&](int64_t n, const BlockedChannels& part) {
      const int64_t dense = n * image, stored = n * part.image_bytes(channels);
      if (to_last) {
        part.to_pixels(args.inputs[0] + stored, channels, args.outputs[0] + dense);
      } else {
        part.from_pixels(args.inputs[0] + dense, channels, args.outputs[0] + stored);
      }
    };
    move.for_each_part(batch, work, 64, 4);
  });
  plan->input_layouts = {to_last ? Layout::blocked16 : Layout::plain};
  plan->output_layouts = {to_last ? Layout::plain : Layout::blocked16};
  return plan;
}

PlanResult plan_transpose(const OpContext& context) {
  ANYNPU_ASSIGN(const auto order, permutation_of(context));
  const Operand &x = context.inputs[0], &y = context.outputs[0];
  if (x.layout == Layout::blocked16 && can_block(x) && moves_channels(order, true))
    return plan_channel_move(context, true);
  if (y.layout == Layout::blocked16 && can_block(y) && moves_channels(order, false))
    return plan_channel_move(context, false);
  const auto strides = strides_of(context.inputs[0].shape);
  std::vector<int64_t> steps;
  steps.reserve(order.size());
  for (int64_t axis : order) steps.push_back(strides[static_cast<size_t>(axis)]);
  return plan_strided_copy(context.outputs[0].shape, steps, 0, size_of(context.inputs[0].dtype));
}

}  // namespace

void register_transpose(Registry& registry) {
  registry.add(OpSchema{.name = "Transpose",
                        .since = 1,
                        .inputs = {{"data", "T"}},
                        .outputs = {{"transposed", "T"}},
                        .types = {{"T", kAnyPacked}},
                        .attrs = {{"perm", AttrKind::ints}},
                        .traits = OpTraits::data_movement(),
                        .shape = transpose_rule});
  registry.add(KernelDef{.op = "Transpose",
                         .name = "strided_copy",
                         .types = kAnyPacked,
                         .create = create_plain<plan_unpacked<plan_transpose>>});
}

}  // namespace anynpu::ops::shape
