// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: y = (x - mean) * scale / sqrt(var + epsilon) + bias per channel. Models
// normally carry it folded into the convolution before; this runs what is left. In training mode
// (opset 14 and newer) mean and var are those of x itself, and the running ones come out.
#include <cmath>

#include "ops/elements/map_elements.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/norm/norm.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops::norm {

namespace {

// An input of one dimension is a batch of single numbers, of one channel.
int64_t channels_of(const Shape& shape) { return shape.size() > 1 ? shape[1] : 1; }

// Elements of one channel of one of the batch.
int64_t plane_of(const Shape& shape) {
  int64_t plane = 1;
  for (size_t i = 2; i < shape.size(); ++i) plane *= shape[i];
  return plane;
}

Status batch_norm_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  const bool training = context.int_attr("training_mode") != 0;
  if (!training && context.outputs.size() > 1) {
    return fail(Code::unsupported_feature,
                "{} has {} outputs, which training alone uses; export the model for inference, or "
                "with opset 14 and training_mode",
                context.label(), context.outputs.size());
  }
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  if (x.rank() < 1) {
    return fail(Code::unsupported_shape, "{}: input is {}, expected at least 1 dimension",
                context.label(), to_string(x.shape));
  }
  const int64_t channels = channels_of(x.shape);
  for (size_t i = 1; i < 5; ++i) {
    const Operand& p = context.inputs[i];
    if (!p.has_shape) continue;
    if (p.rank() != 1 || (is_static(p.shape) && channels >= 0 && p.shape[0] != channels)) {
      return fail(Code::shape_mismatch,
                  "{}: input {} is {}, expected one value for each of {} channels", context.label(),
                  i, to_string(p.shape), channels);
    }
  }
  context.outputs[0].shape = x.shape;
  context.outputs[0].has_shape = true;
  for (size_t i = 1; i < context.outputs.size(); ++i) {
    context.outputs[i] = Operand::of(context.inputs[3].dtype, {channels});
  }
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
  const int64_t batch = shape[0], channels = channels_of(shape), plane = plane_of(shape);
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
          map_elements(static_cast<size_t>(plane),
                       [=](size_t p) { y[p] = Element<T>::store(Element<T>::load(x[p]) * a + b); });
        }
      });
    });
  });
  if (!plan) return no_kernel_for(context);
  plan->in_place_input = 0;
  return plan;
}

// As above, by the moments of each channel; the running ones are mixed with them.
PlanResult plan_training(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t batch = shape[0], channels = channels_of(shape), plane = plane_of(shape);
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.inputs[0].dtype);
  const auto keep = store_block<double>(context.inputs[3].dtype);
  const LoadAt affine = loader_of(context.inputs[1].dtype);
  const LoadAt moments = loader_of(context.inputs[3].dtype);
  const double epsilon = context.float_attr("epsilon"), momentum = context.float_attr("momentum");
  if (!load || !store || !keep || !affine || !moments) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(channels), 1, [&](size_t begin, size_t end) {
      for (auto c = static_cast<int64_t>(begin); c < static_cast<int64_t>(end); ++c) {
        const auto each = [&](const auto& visit) {
          for (int64_t n = 0; n < batch; ++n) {
            for (int64_t i = (n * channels + c) * plane, p = 0; p < plane; ++p, ++i) {
              double x = 0;
              load(args.inputs[0], i, 1, &x, 1);
              visit(i, x);
            }
          }
        };
        const auto count = static_cast<double>(batch * plane);
        double mean = 0, var = 0;
        each([&](int64_t, double x) { mean += x / count; });
        each([&](int64_t, double x) { var += (x - mean) * (x - mean) / count; });
        const double scale = affine(args.inputs[1], c) / std::sqrt(var + epsilon);
        each([&](int64_t i, double x) {
          const double y = (x - mean) * scale + affine(args.inputs[2], c);
          store(args.outputs[0], i, &y, 1);
        });
        for (size_t k = 1; k < args.outputs.size() && k < 3; ++k) {
          if (!args.outputs[k]) continue;
          const double running =
              moments(args.inputs[k + 2], c) * momentum + (k == 1 ? mean : var) * (1 - momentum);
          keep(args.outputs[k], c, &running, 1);
        }
      }
    });
  });
}

PlanResult plan_either(const OpContext& context) {
  return context.int_attr("training_mode") != 0 ? plan_training(context) : plan_batch_norm(context);
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
                  .traits = OpTraits::linear(),
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
  add_list(registry, "BatchNormalization",
           {"batch_norm_reference", kFloats, nullptr, create_plain<plan_either>});
}

}  // namespace anynpu::ops::norm
