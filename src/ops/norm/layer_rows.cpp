// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization of f32 rows by vector instructions (simd/rows.h).
#include "ops/data_movement/axes.h"
#include "ops/norm/norm.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/simd/rows.h"
#include "ops/widen.h"

namespace anynpu::ops::norm {

namespace {

template <Isa isa>
Status can_run_layer_rows(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  const int64_t length = element_count(Shape(x.shape.begin() + axis, x.shape.end()));
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const Operand& p = context.inputs[i];
    if (!p.present) continue;
    if (p.dtype != DType::f32 || element_count(p.shape) != length) {
      return fail(Code::unsupported_shape, "input {} has {} elements of {}, takes {} of float32", i,
                  element_count(p.shape), name_of(p.dtype), length);
    }
  }
  for (size_t i = 1; i < context.outputs.size(); ++i) {
    const Operand& statistic = context.outputs[i];
    if (statistic.present && statistic.dtype != DType::f32) {
      return fail(Code::unsupported_dtype, "output {} is {}, takes float32", i,
                  name_of(statistic.dtype));
    }
  }
  return {};
}

template <Isa isa>
PlanResult plan_layer_rows(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  NormRow shape;
  shape.count = element_count(Shape(x.begin() + axis, x.end()));
  shape.epsilon = static_cast<double>(context.float_attr("epsilon"));
  shape.centred = context.schema->name == "LayerNormalization";
  const int64_t rows = shape.count == 0 ? 0 : element_count(Shape(x.begin(), x.begin() + axis));
  const bool has_bias = context.has_input(2);
  const auto layer_norm = row_set(isa).layer_norm;
  auto plan = make_plan([=](const RunArgs& args) {
    const auto least = static_cast<size_t>(4096 / (shape.count + 1) + 1);
    parallel(static_cast<size_t>(rows), least, [&](size_t begin, size_t end) {
      NormRow row = shape;
      row.scale = input_of<float>(args, 1);
      row.bias = has_bias ? input_of<float>(args, 2) : nullptr;
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        row.x = input_of<float>(args, 0) + i * shape.count;
        row.y = output_of<float>(args, 0) + i * shape.count;
        layer_norm(row);
        const auto statistic = [&](size_t output, double value) {
          if (args.outputs.size() > output && args.outputs[output])
            output_of<float>(args, output)[i] = static_cast<float>(value);
        };
        statistic(1, row.mean);
        statistic(2, row.inverse);
      }
    });
  });
  plan->in_place_input = 0;
  return plan;
}

}  // namespace

std::vector<KernelLine> layer_row_kernels(std::string_view op) {
  if (op != "LayerNormalization" && op != "RMSNormalization") return {};
  return {{"norm_avx512",
           {DType::f32},
           can_run_layer_rows<Isa::avx512>,
           create_plain<plan_layer_rows<Isa::avx512>>},
          {"norm_avx2",
           {DType::f32},
           can_run_layer_rows<Isa::avx2>,
           create_plain<plan_layer_rows<Isa::avx2>>},
          {"widened", kShortFloats, can_run_widened, create_widened}};
}

}  // namespace anynpu::ops::norm
