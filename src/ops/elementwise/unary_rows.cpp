// SPDX-License-Identifier: Apache-2.0
// Functions of one f32 tensor by vector instructions (simd/rows.h). Works on any layout.
#include <algorithm>
#include <iterator>

#include "ops/blocked_layout.h"
#include "ops/elementwise/elementwise.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/simd/rows.h"
#include "ops/widen.h"

namespace anynpu::ops::elementwise {

namespace {

RowFunction function_of(const OpContext& context) {
  const std::string_view name = context.schema->name;
  if (name == "Erf") return RowFunction::erf;
  if (name == "Tanh") return RowFunction::tanh;
  if (name == "Sigmoid") return RowFunction::sigmoid;
  if (name == "Gelu") {
    return context.string_attr("approximate") == "tanh" ? RowFunction::gelu_tanh
                                                        : RowFunction::gelu;
  }
  return RowFunction::exp;
}

template <Isa isa>
PlanResult plan_unary_rows(const OpContext& context) {
  // Exp of the unused channels of a blocked tensor would not stay finite.
  const RowFunction function = function_of(context);
  const Layout layout = function == RowFunction::exp ? Layout::plain : context.inputs[0].layout;
  const auto count = static_cast<size_t>(stored_elements(context.inputs[0].shape, layout));
  const RowMap map = row_set(isa).find(function);
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, 4096, [&](size_t begin, size_t end) {
      map(input_of<float>(args, 0) + begin, output_of<float>(args, 0) + begin,
          static_cast<int64_t>(end - begin));
    });
  });
  plan->in_place_input = 0;
  plan->input_layouts = {layout};
  plan->output_layouts = {layout};
  return plan;
}

template <Isa isa>
Status can_run_unary_rows(const OpContext&) {
  return check_isa(isa);
}

}  // namespace

std::vector<KernelLine> row_kernels(std::string_view op) {
  constexpr std::string_view kOps[] = {"Exp", "Erf", "Tanh", "Sigmoid", "Gelu"};
  if (std::find(std::begin(kOps), std::end(kOps), op) == std::end(kOps)) return {};
  return {{"unary_avx512",
           {DType::f32},
           can_run_unary_rows<Isa::avx512>,
           create_plain<plan_unary_rows<Isa::avx512>>},
          {"unary_avx2",
           {DType::f32},
           can_run_unary_rows<Isa::avx2>,
           create_plain<plan_unary_rows<Isa::avx2>>},
          {"widened", kShortFloats, can_run_widened, create_widened}};
}

}  // namespace anynpu::ops::elementwise
