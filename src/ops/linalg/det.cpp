// SPDX-License-Identifier: Apache-2.0
// Det: determinants of square matrices by elimination with row exchange.
#include <utility>

#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/linalg/dense.h"
#include "ops/linalg/linalg.h"
#include "ops/plain_kernel.h"
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

template <typename T>
PlanResult plan_det_of(const OpContext& context) {
  const int64_t n = context.inputs[0].shape.back(), count = element_count(context.outputs[0].shape);
  const DType type = context.inputs[0].dtype;
  const int64_t parts = parts_of(type);
  const auto load = load_block<double>(part_of(type));
  const auto store = store_block<double>(part_of(type));
  return make_plan([=](const RunArgs& args) {
    for (int64_t i = 0; i < count; ++i) {
      MatrixOf<T> matrix(n, n);
      load(args.inputs[0], i * n * n * parts, 1, reinterpret_cast<double*>(matrix.data()),
           n * n * parts);
      const T value = lu(std::move(matrix)).determinant();
      store(args.outputs[0], i * parts, reinterpret_cast<const double*>(&value), parts);
    }
  });
}

PlanResult plan_det(const OpContext& context) {
  return kComplex.has(context.inputs[0].dtype) ? plan_det_of<std::complex<double>>(context)
                                               : plan_det_of<double>(context);
}

// ONNX has it for floats; TensorFlow for complex numbers too.
constexpr DTypeSet kDetTypes = kFloats | DTypeSet{DType::c64, DType::c128};

}  // namespace

void register_family(Registry& registry) {
  register_solvers(registry);
  registry.add(OpSchema{.name = "Det",
                        .since = 11,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kDetTypes}},
                        .traits = OpTraits::general(),
                        .shape = det_rule});
  registry.add(KernelDef{
      .op = "Det", .name = "reference", .types = kDetTypes, .create = create_plain<plan_det>});
}

}  // namespace anynpu::ops::linalg
