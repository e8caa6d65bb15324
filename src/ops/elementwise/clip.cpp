// SPDX-License-Identifier: Apache-2.0
// Clip: bounds are attributes up to opset 10 and optional scalar inputs from opset 11.
#include <limits>

#include "ops/blocked_layout.h"
#include "ops/elements/map_elements.h"
#include "ops/elementwise/elementwise.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops::elementwise {

namespace {

Status clip_rule(OpContext& context) {
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const Operand& bound = context.inputs[i];
    if (bound.present && bound.has_shape && is_static(bound.shape) &&
        element_count(bound.shape) != 1) {
      return fail(Code::shape_mismatch, "{}: bound {} is {}, expected a scalar", context.label(), i,
                  to_string(bound.shape));
    }
  }
  context.outputs[0].dtype = context.inputs[0].dtype;
  context.outputs[0].shape = context.inputs[0].shape;
  context.outputs[0].has_shape = context.inputs[0].has_shape;
  return {};
}

template <typename T>
std::unique_ptr<KernelPlan> plan_clip_of(const OpContext& context, size_t count) {
  using Wide = typename Element<T>::Wide;
  const bool by_attribute = context.schema->since < 11;
  using Limits = std::numeric_limits<Wide>;
  Wide low = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  Wide high = Limits::has_infinity ? Limits::infinity() : Limits::max();
  if constexpr (std::is_floating_point_v<Wide>) {
    if (by_attribute) {
      low = static_cast<Wide>(context.float_attr("min"));
      high = static_cast<Wide>(context.float_attr("max"));
    }
  }
  const bool has_low = !by_attribute && context.has_input(1);
  const bool has_high = !by_attribute && context.has_input(2);
  return make_plan([=](const RunArgs& args) {
    const Wide a = has_low ? Element<T>::load(*input_of<T>(args, 1)) : low;
    const Wide b = has_high ? Element<T>::load(*input_of<T>(args, 2)) : high;
    parallel(count, 8192, [&](size_t begin, size_t end) {
      const T* x = input_of<T>(args, 0);
      T* y = output_of<T>(args, 0);
      map_elements(end - begin, [=](size_t i) {
        Wide value = Element<T>::load(x[begin + i]);
        value = value < a ? a : value;  // in this order NaN stays NaN
        value = value > b ? b : value;
        y[begin + i] = Element<T>::store(value);
      });
    });
  });
}

PlanResult plan_clip(const OpContext& context) {
  const Layout layout = context.inputs[0].layout;
  const auto count = static_cast<size_t>(stored_elements(context.inputs[0].shape, layout));
  std::unique_ptr<KernelPlan> plan;
  visit_numbers(context.inputs[0].dtype,
                [&](auto zero) { plan = plan_clip_of<decltype(zero)>(context, count); });
  if (!plan) return no_kernel_for(context);
  plan->in_place_input = 0;
  plan->input_layouts = {layout, Layout::plain, Layout::plain};
  plan->output_layouts = {layout};
  return plan;
}

}  // namespace

void register_clip(Registry& registry) {
  registry.add(OpSchema{.name = "Clip",
                        .since = 6,
                        .inputs = {{"input", "T"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {{"min", AttrKind::f, std::numeric_limits<float>::lowest()},
                                  {"max", AttrKind::f, std::numeric_limits<float>::max()}},
                        .traits = OpTraits::elementwise(),
                        .shape = clip_rule});
  registry.add(OpSchema{.name = "Clip",
                        .since = 11,
                        .inputs = {{"input", "T"},
                                   {"min", "T", Presence::optional},
                                   {"max", "T", Presence::optional}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kNumbers}},
                        .traits = OpTraits::elementwise(),
                        .shape = clip_rule});
  add_list(registry, "Clip", {"clip_reference", kNumbers, nullptr, create_plain<plan_clip>});
}

}  // namespace anynpu::ops::elementwise
