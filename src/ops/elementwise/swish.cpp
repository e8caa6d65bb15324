// SPDX-License-Identifier: Apache-2.0
// Swish: x * sigmoid(alpha * x). SwiGLU: the Swish of one tensor times another of the same shape.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/blocked_layout.h"
#include "ops/elements/map_elements.h"
#include "ops/elements/wide.h"
#include "ops/elementwise/elementwise.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/simd/rows.h"
#include "ops/widen.h"

namespace anynpu::ops::elementwise {

namespace {

bool is_gated(const OpContext& context) { return context.schema->name == "SwiGLU"; }

Status swish_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  Operand& y = context.outputs[0];
  y.dtype = x.dtype;
  y.shape = x.shape;
  y.has_shape = x.has_shape;
  if (!is_gated(context) || !context.inputs[1].has_shape) return {};
  const Shape& factor = context.inputs[1].shape;
  bool fits = !x.has_shape || x.shape.size() == factor.size();
  y.has_shape = true;
  if (!x.has_shape) y.shape = factor;
  for (size_t i = 0; fits && i < y.shape.size(); ++i) {
    fits = y.shape[i] == factor[i] || y.shape[i] == kDynamicDim || factor[i] == kDynamicDim;
    y.shape[i] = std::max(y.shape[i], factor[i]);
  }
  if (fits) return {};
  return fail(Code::shape_mismatch,
              "{}: A is {} and B is {}, expected the same shape: SwiGLU does not broadcast",
              context.label(), to_string(x.shape), to_string(factor));
}

// Swish keeps the layout of its input: what is finite stays finite.
void keep_layout(const OpContext& context, Layout layout, KernelPlan& plan) {
  plan.in_place_input = 0;
  plan.input_layouts.assign(context.inputs.size(), layout);
  plan.output_layouts = {layout};
}

Layout layout_of(const OpContext& context) {
  return is_gated(context) ? Layout::plain : context.inputs[0].layout;
}

template <Isa isa>
PlanResult plan_swish_rows(const OpContext& context) {
  const Layout layout = layout_of(context);
  const auto count = static_cast<size_t>(stored_elements(context.inputs[0].shape, layout));
  const RowMap sigmoid = row_set(isa).find(RowFunction::sigmoid);
  const float alpha = context.float_attr("alpha");
  const bool gated = is_gated(context);
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, 4096, [&](size_t begin, size_t end) {
      std::array<float, 512> part;
      for (size_t at = begin; at < end; at += part.size()) {
        const size_t n = std::min(part.size(), end - at);
        const float* x = input_of<float>(args, 0) + at;
        float* y = output_of<float>(args, 0) + at;
        float* gate = part.data();
        if (alpha != 1) map_elements(n, [=](size_t i) { gate[i] = alpha * x[i]; });
        sigmoid(alpha == 1 ? x : gate, gate, static_cast<int64_t>(n));
        if (!gated) {
          map_elements(n, [=](size_t i) { y[i] = x[i] * gate[i]; });
          continue;
        }
        const float* factor = input_of<float>(args, 1) + at;
        map_elements(n, [=](size_t i) { y[i] = x[i] * gate[i] * factor[i]; });
      }
    });
  });
  keep_layout(context, layout, *plan);
  return plan;
}

PlanResult plan_swish(const OpContext& context) {
  const Layout layout = layout_of(context);
  const auto count = static_cast<size_t>(stored_elements(context.inputs[0].shape, layout));
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.inputs[0].dtype);
  const auto alpha = static_cast<double>(context.float_attr("alpha"));
  const bool gated = is_gated(context);
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, 4096, [&](size_t begin, size_t end) {
      double x[kBlockLength], factor[kBlockLength];
      for (auto at = static_cast<int64_t>(begin); at < static_cast<int64_t>(end);
           at += kBlockLength) {
        const int64_t n = std::min(kBlockLength, static_cast<int64_t>(end) - at);
        load(args.inputs[0], at, 1, x, n);
        std::fill_n(factor, n, 1.0);
        if (gated) load(args.inputs[1], at, 1, factor, n);
        for (int64_t i = 0; i < n; ++i) x[i] *= factor[i] / (1 + std::exp(-alpha * x[i]));
        store(args.outputs[0], at, x, n);
      }
    });
  });
  keep_layout(context, layout, *plan);
  return plan;
}

template <Isa isa>
Status can_run_swish_rows(const OpContext&) {
  return check_isa(isa);
}

}  // namespace

std::vector<KernelLine> swish_kernels(std::string_view op) {
  if (op != "Swish" && op != "SwiGLU") return {};
  return {{"swish_avx512",
           {DType::f32},
           can_run_swish_rows<Isa::avx512>,
           create_plain<plan_swish_rows<Isa::avx512>>},
          {"swish_avx2",
           {DType::f32},
           can_run_swish_rows<Isa::avx2>,
           create_plain<plan_swish_rows<Isa::avx2>>},
          {"widened", kShortFloats, can_run_widened, create_widened}};
}

void register_swish(Registry& registry) {
  OpSchema schema{.name = "Swish",
                  .since = 24,
                  .inputs = {{"X", "T"}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", kFloats}},
                  .attrs = {{"alpha", AttrKind::f, 1.0f}},
                  .traits = OpTraits::elementwise(),
                  .shape = swish_rule};
  registry.add(schema);
  schema.name = "SwiGLU";
  schema.traits = OpTraits::general();
  schema.since = 28;
  schema.inputs = {{"A", "T"}, {"B", "T"}};
  registry.add(schema);
  for (std::string_view op : {"Swish", "SwiGLU"})
    add_list(registry, op, {"swish_reference", kFloats, nullptr, create_plain<plan_swish>});
}

}  // namespace anynpu::ops::elementwise
