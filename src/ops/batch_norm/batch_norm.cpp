// SPDX-License-Identifier: Apache-2.0
// BatchNormalization at inference: y = (x - mean) * scale / sqrt(var + epsilon) + bias per channel.
// Models normally carry it folded into the convolution before; this runs what is left.
#include <cmath>

#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops {

namespace {

Status batch_norm_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  if (context.int_attr("training_mode") != 0 || context.outputs.size() > 1) {
    return fail(Code::unsupported_feature, "{} is in training mode; export the model for inference",
                context.label());
  }
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  if (x.rank() < 2) {
    return fail(Code::unsupported_shape, "{}: input is {}, expected at least 2 dimensions",
                context.label(), to_string(x.shape));
  }
  for (size_t i = 1; i < 5; ++i) {
    const Operand& p = context.inputs[i];
    if (!p.has_shape) continue;
    if (p.rank() != 1 || (is_static(p.shape) && x.shape[1] >= 0 && p.shape[0] != x.shape[1])) {
      return fail(Code::shape_mismatch,
                  "{}: input {} is {}, expected one value for each of {} channels", context.label(),
                  i, to_string(p.shape), x.shape[1]);
    }
  }
  context.outputs[0].shape = x.shape;
  context.outputs[0].has_shape = true;
  return {};
}

using LoadAt = double (*)(const std::byte*, int64_t);

LoadAt loader_of(DType type) {
  LoadAt loader = nullptr;
  visit_floats(type, [&](auto zero) {
    using T = decltype(zero);
    loader = [](const std::byte* data, int64_t i) {
      return static_cast<double>(Element<T>::load(reinterpret_cast<const T*>(data)[i]));
    };
  });
  return loader;
}

PlanResult plan_batch_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t batch = shape[0], channels = shape[1];
  int64_t plane = 1;
  for (size_t i = 2; i < shape.size(); ++i) plane *= shape[i];
  const LoadAt affine = loader_of(context.inputs[1].dtype);
  const LoadAt moments = loader_of(context.inputs[3].dtype);
  const double epsilon = context.float_attr("epsilon");
  std::unique_ptr<KernelPlan> plan;
  if (!affine || !moments) return no_kernel_for(context);
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    using Wide = typename Element<T>::Wide;
    plan = make_plan([=](const RunArgs& args) {
      parallel(static_cast<size_t>(batch * channels), 1, [&](size_t begin, size_t end) {
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const int64_t c = i % channels;
          const double scale =
              affine(args.inputs[1], c) / std::sqrt(moments(args.inputs[4], c) + epsilon);
          const auto a = static_cast<Wide>(scale);
          const auto b =
              static_cast<Wide>(affine(args.inputs[2], c) - moments(args.inputs[3], c) * scale);
          const T* x = input_of<T>(args, 0) + i * plane;
          T* y = output_of<T>(args, 0) + i * plane;
          for (int64_t p = 0; p < plane; ++p) {
            y[p] = Element<T>::store(Element<T>::load(x[p]) * a + b);
          }
        }
      });
    });
  });
  if (!plan) return no_kernel_for(context);
  plan->in_place_input = 0;
  return plan;
}

}  // namespace

void register_batch_norm(Registry& registry) {
  const std::vector<FormalOperand> outputs = {{"Y", "T"},
                                              {"mean", "T", Presence::optional},
                                              {"var", "T", Presence::optional},
                                              {"saved_mean", "T", Presence::optional},
                                              {"saved_var", "T", Presence::optional}};
  std::vector<AttrSchema> attrs = {{"epsilon", AttrKind::f, 1e-5f},
                                   {"momentum", AttrKind::f, 0.9f}};
  OpSchema schema{.name = "BatchNormalization",
                  .since = 9,
                  .inputs = {{"X", "T"}, {"scale", "T"}, {"B", "T"}, {"mean", "T"}, {"var", "T"}},
                  .outputs = outputs,
                  .types = {{"T", kFloats}},
                  .attrs = attrs,
                  .shape = batch_norm_rule};
  OpSchema oldest = schema;
  oldest.since = 7;
  oldest.attrs.push_back({"spatial", AttrKind::i, int64_t{1}});
  registry.add(oldest);
  registry.add(schema);
  schema.since = 14;
  schema.inputs = {
      {"X", "T"}, {"scale", "T1"}, {"B", "T1"}, {"input_mean", "T2"}, {"input_var", "T2"}};
  schema.types = {{"T", kFloats}, {"T1", kFloats}, {"T2", kFloats}};
  schema.attrs.push_back({"training_mode", AttrKind::i, int64_t{0}});
  registry.add(schema);
  registry.add(KernelDef{.op = "BatchNormalization",
                         .name = "batch_norm_reference",
                         .types = kFloats,
                         .create = create_plain<plan_batch_norm>});
}

}  // namespace anynpu::ops
