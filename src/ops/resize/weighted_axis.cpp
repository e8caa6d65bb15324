// SPDX-License-Identifier: Apache-2.0
// WeightedAxis: along one axis every output element is a weighted sum of input elements, whose
// places and weights are constants (out x taps). Interpolation, padding by the tensor's own
// elements and averages over windows are such sums, and so are their gradients.
#include <algorithm>

#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/resize/weighted.h"

namespace anynpu::ops::resize {

namespace {

Status axis_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &index = context.inputs[1], &weight = context.inputs[2];
  context.outputs[0].dtype = x.dtype;
  if (!index.is_constant || !weight.is_constant || index.shape != weight.shape ||
      index.shape.size() != 2) {
    return fail(Code::invalid_argument,
                "{}: index {} and weight {}, expected constants of one shape, out x taps",
                context.label(), to_string(index.shape), to_string(weight.shape));
  }
  if (!x.fully_known()) return {};
  const int64_t axis = context.int_attr("axis");
  if (axis < 0 || axis >= x.rank()) {
    return fail(Code::invalid_argument, "{}: axis is {}, the input has {}", context.label(), axis,
                x.rank());
  }
  const int64_t extent = x.shape[static_cast<size_t>(axis)];
  const auto* places = reinterpret_cast<const int64_t*>(index.constant.data());
  for (int64_t i = 0; i < element_count(index.shape); ++i) {
    if (places[i] < 0 || places[i] >= extent) {
      return fail(Code::invalid_argument, "{}: index {} of an axis of {}", context.label(),
                  places[i], extent);
    }
  }
  context.outputs[0].shape = x.shape;
  context.outputs[0].shape[static_cast<size_t>(axis)] = index.shape[0];
  context.outputs[0].has_shape = true;
  return {};
}

PlanResult plan_axis(const OpContext& context) {
  const Operand &x = context.inputs[0], &index = context.inputs[1], &weight = context.inputs[2];
  const auto axis = static_cast<size_t>(context.int_attr("axis"));
  if (element_count(context.outputs[0].shape) == 0) return make_plan([](const RunArgs&) {});
  Pass pass;
  pass.in = x.shape[axis];
  pass.out = index.shape[0];
  int64_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= x.shape[i];
  for (size_t i = axis + 1; i < x.shape.size(); ++i) pass.inner *= x.shape[i];
  pass.taps.per_output = index.shape[1];
  const auto count = static_cast<size_t>(element_count(index.shape));
  const auto* places = reinterpret_cast<const int64_t*>(index.constant.data());
  const auto* weights = reinterpret_cast<const double*>(weight.constant.data());
  pass.taps.index.assign(places, places + count);
  pass.taps.weight.assign(weights, weights + count);
  pass.taps.outside.assign(static_cast<size_t>(pass.out), false);
  WeightedResize resize;
  resize.planes = outer;
  resize.in_plane = pass.in * pass.inner;
  resize.out_plane = pass.out * pass.inner;
  resize.most = std::max(resize.in_plane, resize.out_plane);
  resize.load = load_block<double>(x.dtype);
  resize.store = store_block<double>(x.dtype);
  resize.threads = context.target.threads;
  resize.passes = {std::move(pass)};
  return plan_weighted_resize(std::move(resize));
}

}  // namespace

void register_weighted_axis(Registry& registry);
void register_weighted_axis(Registry& registry) {
  registry.add(OpSchema{.name = "WeightedAxis",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}, {"index", "I"}, {"weight", "W"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kNumbers}, {"I", {DType::i64}}, {"W", {DType::f64}}},
                        .attrs = {{"axis", AttrKind::i, {}, true}},
                        .traits = OpTraits::linear(),
                        .shape = axis_rule});
  registry.add(KernelDef{.op = "WeightedAxis",
                         .name = "weighted_axes",
                         .domain = "anynpu",
                         .types = kNumbers,
                         .create = create_plain<plan_axis>});
}

}  // namespace anynpu::ops::resize
