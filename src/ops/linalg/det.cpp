// SPDX-License-Identifier: Apache-2.0
// Det: determinants of square matrices by elimination with row exchange.
#include <cmath>

#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/linalg/linalg.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::linalg {

namespace {

Status det_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  const size_t rank = x.shape.size();
  if (rank < 2 || (is_static(x.shape) && x.shape[rank - 1] != x.shape[rank - 2])) {
    return fail(Code::shape_mismatch, "{}: the input is {}, expected square matrices",
                context.label(), to_string(x.shape));
  }
  return set_output(context, 0, x.dtype, Shape(x.shape.begin(), x.shape.end() - 2));
}

double determinant(double* m, int64_t n) {
  double result = 1;
  for (int64_t c = 0; c < n; ++c) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; ++r) {
      if (std::fabs(m[r * n + c]) > std::fabs(m[pivot * n + c])) pivot = r;
    }
    if (m[pivot * n + c] == 0) return 0;
    if (pivot != c) {
      for (int64_t k = 0; k < n; ++k) std::swap(m[c * n + k], m[pivot * n + k]);
      result = -result;
    }
    result *= m[c * n + c];
    for (int64_t r = c + 1; r < n; ++r) {
      const double factor = m[r * n + c] / m[c * n + c];
      for (int64_t k = c; k < n; ++k) m[r * n + k] -= factor * m[c * n + k];
    }
  }
  return result;
}

PlanResult plan_det(const OpContext& context) {
  const int64_t n = context.inputs[0].shape.back(), count = element_count(context.outputs[0].shape);
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  auto plan = make_plan([=](const RunArgs& args) {
    auto* matrix = reinterpret_cast<double*>(args.workspace);
    for (int64_t i = 0; i < count; ++i) {
      load(args.inputs[0], i * n * n, 1, matrix, n * n);
      const double value = determinant(matrix, n);
      store(args.outputs[0], i, &value, 1);
    }
  });
  plan->workspace_bytes = static_cast<size_t>(n * n) * sizeof(double);
  return plan;
}

}  // namespace

void register_family(Registry& registry) {
  register_solvers(registry);
  registry.add(OpSchema{.name = "Det",
                        .since = 11,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .traits = OpTraits::general(),
                        .shape = det_rule});
  registry.add(KernelDef{
      .op = "Det", .name = "reference", .types = kFloats, .create = create_plain<plan_det>});
}

}  // namespace anynpu::ops::linalg
