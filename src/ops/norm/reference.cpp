// SPDX-License-Identifier: Apache-2.0
// Normalisation of contiguous groups: LayerNormalization, RMSNormalization, InstanceNormalization,
// GroupNormalization; and MeanVarianceNormalization over any axes. Sums are kept in double.
#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/broadcast.h"
#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/norm/norm.h"
#include "ops/parallel.h"
#include "ops/reduce/walk.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "tensor/onnx_type.h"

namespace anynpu::ops::norm {

namespace {

using Offsets = std::shared_ptr<const std::vector<int64_t>>;

// A scale or bias: which input it is (-1 = none), and its elements; places are taken modulo these.
struct Parameter {
  int input = -1;
  int64_t count = 1;
  Offsets rows, columns;  // where set: the place is (*rows)[g] + (*columns)[i]
};

// How a group's elements are scaled: element i of group g takes the parameter's place(g, i).
struct Groups {
  int64_t count = 1, length = 1;
  // place = (g % outer) * outer_step + i / inner: enough for nearly all of them.
  int64_t outer = 1, outer_step = 0, inner = 1;
  double epsilon = 1e-5;
  bool centred = true;
  Parameter scale, bias;

  int64_t place(const Parameter& p, int64_t at, int64_t i) const {
    if (p.rows) return (*p.rows)[static_cast<size_t>(at)] + (*p.columns)[static_cast<size_t>(i)];
    return (at % outer * outer_step + i / inner) % p.count;
  }
};

PlanResult plan_groups(const OpContext& context, const Groups& g) {
  const DType type = context.inputs[0].dtype;
  const auto load = load_block<double>(type);
  const auto store = store_block<double>(context.outputs[0].dtype);
  if (!load || !store) return no_kernel_for(context);
  const auto type_of = [&](const Parameter& p) {
    return p.input < 0 ? DType::f32 : context.inputs[static_cast<size_t>(p.input)].dtype;
  };
  const auto load_scale = load_block<double>(type_of(g.scale)),
             load_bias = load_block<double>(type_of(g.bias));
  const auto statistic = [&](size_t i) {
    return store_block<double>(i < context.outputs.size() && context.outputs[i].present
                                   ? context.outputs[i].dtype
                                   : DType::f32);
  };
  const auto store_mean = statistic(1), store_inverse = statistic(2);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(g.count), 4, [&](size_t begin, size_t end) {
      double block[kBlockLength];
      for (auto at = static_cast<int64_t>(begin); at < static_cast<int64_t>(end); ++at) {
        const int64_t base = at * g.length;
        const auto each = [&](auto&& body) {
          for (int64_t i = 0; i < g.length; i += kBlockLength) {
            const int64_t n = std::min(kBlockLength, g.length - i);
            load(args.inputs[0], base + i, 1, block, n);
            body(i, n);
          }
        };
        double mean = 0, square = 0;
        if (g.centred) {
          each([&](int64_t, int64_t n) {
            for (int64_t j = 0; j < n; ++j) mean += block[j];
          });
          mean /= static_cast<double>(g.length);
        }
        each([&](int64_t, int64_t n) {
          for (int64_t j = 0; j < n; ++j) square += (block[j] - mean) * (block[j] - mean);
        });
        const double inverse = 1 / std::sqrt(square / static_cast<double>(g.length) + g.epsilon);
        each([&](int64_t i, int64_t n) {
          for (int64_t j = 0; j < n; ++j) {
            const auto read = [&](const Parameter& p, LoadBlock<double> load_one, double& value) {
              if (p.input < 0) return;
              const std::byte* data = args.inputs[static_cast<size_t>(p.input)];
              load_one(data, g.place(p, at, i + j), 0, &value, 1);
            };
            double value = (block[j] - mean) * inverse, factor = 1, shift = 0;
            read(g.scale, load_scale, factor);
            read(g.bias, load_bias, shift);
            block[j] = value * factor + shift;
          }
          store(args.outputs[0], base + i, block, n);
        });
        if (args.outputs.size() > 1 && args.outputs[1]) store_mean(args.outputs[1], at, &mean, 1);
        if (args.outputs.size() > 2 && args.outputs[2])
          store_inverse(args.outputs[2], at, &inverse, 1);
      }
    });
  });
}

// stash_type: of Mean and InvStdDev. All stages compute in double regardless.
Result<DType> statistics_type(const OpContext& context) {
  const int64_t stash = context.int_attr("stash_type");
  const DType type = dtype_of_onnx_number(stash);
  if (type == DType::f32 || type == DType::bf16) return type;
  return fail(Code::invalid_argument,
              "{}: stash_type is {}, expected 1 (FLOAT) or 16 (BFLOAT16) as the type of Mean and "
              "InvStdDev",
              context.label(), stash);
}

Status layer_rule(OpContext& context) {
  const Operand x = context.inputs[0];
  const DType type = context.schema->name == "RMSNormalization" ? context.inputs[1].dtype : x.dtype;
  context.outputs[0].dtype = type;
  DType statistics_dtype = DType::f32;
  if (context.outputs.size() > 1) {
    ANYNPU_ASSIGN(statistics_dtype, statistics_type(context));
  }
  for (size_t i = 1; i < context.outputs.size(); ++i) context.outputs[i].dtype = statistics_dtype;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const Operand& p = context.inputs[i];
    if (!p.present || !p.fully_known() || !is_static(x.shape)) continue;
    const auto both = broadcast(p.shape, x.shape);
    if (!both.ok() || *both != x.shape) {
      return fail(Code::shape_mismatch,
                  "{}: input {} is {}, expected {} as the normalised dimensions, or a shape that "
                  "broadcasts to {}",
                  context.label(), i, to_string(p.shape),
                  to_string(Shape(x.shape.begin() + axis, x.shape.end())), to_string(x.shape));
    }
  }
  Shape statistics = x.shape;
  for (size_t i = static_cast<size_t>(axis); i < statistics.size(); ++i) statistics[i] = 1;
  ANYNPU_TRY(set_output(context, 1, statistics_dtype, statistics));
  ANYNPU_TRY(set_output(context, 2, statistics_dtype, statistics));
  return set_output(context, 0, type, x.shape);
}

// Where elements along the dimensions of `shape` lie in a tensor that has the steps of `steps`
// along them: one offset per element, in order.
Offsets offsets_along(const Shape& shape, const std::vector<int64_t>& steps) {
  auto offsets = std::make_shared<std::vector<int64_t>>();
  for (int64_t i = 0; i < element_count(shape); ++i) {
    int64_t offset = 0, rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) offset += rest % shape[d] * steps[d];
    offsets->push_back(offset);
  }
  return offsets;
}

// A scale or bias of a layer. Mostly it fills the last dimensions: the rest of i is enough. Else
// the offsets of rows and of elements in a row are listed.
Parameter layer_parameter(const OpContext& context, int input, int64_t axis) {
  Parameter p;
  if (!context.has_input(static_cast<size_t>(input))) return p;
  const Shape& x = context.inputs[0].shape;
  const Shape& shape = context.inputs[static_cast<size_t>(input)].shape;
  p.input = input;
  p.count = std::max<int64_t>(1, element_count(shape));
  const size_t skipped = x.size() - shape.size();
  const bool fills =
      skipped >= static_cast<size_t>(axis) &&
      std::equal(shape.begin(), shape.end(), x.begin() + static_cast<ptrdiff_t>(skipped));
  if (fills || p.count == 1) return p;
  std::vector<int64_t> steps(x.size(), 0);
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0; step *= shape[d]) {
    if (shape[d] != 1) steps[skipped + d] = step;
  }
  p.rows = offsets_along(Shape(x.begin(), x.begin() + axis), {steps.begin(), steps.begin() + axis});
  p.columns = offsets_along(Shape(x.begin() + axis, x.end()), {steps.begin() + axis, steps.end()});
  return p;
}

PlanResult plan_layer(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  Groups g;
  for (size_t i = 0; i < x.size(); ++i)
    (static_cast<int64_t>(i) < axis ? g.count : g.length) *= x[i];
  g.epsilon = static_cast<double>(context.float_attr("epsilon"));
  g.centred = context.schema->name == "LayerNormalization";
  g.scale = layer_parameter(context, 1, axis);
  g.bias = layer_parameter(context, 2, axis);
  return plan_groups(context, g);
}

Status channel_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  const int64_t groups =
      context.schema->name == "GroupNormalization" ? context.int_attr("num_groups") : 1;
  bool fits = x.rank() >= 2 && groups > 0;
  if (fits && is_static(x.shape)) {
    fits = x.shape[1] % groups == 0;
    const int64_t wanted =
        context.schema->name == "GroupNormalization" && context.schema->since < 21 ? groups
                                                                                   : x.shape[1];
    for (size_t i = 1; fits && i < 3; ++i) {
      const Operand& p = context.inputs[i];
      fits = !p.fully_known() || element_count(p.shape) == wanted;
    }
  }
  if (!fits) {
    return fail(Code::shape_mismatch,
                "{}: scale {} and bias {} do not fit the channels of input {}", context.label(),
                to_string(context.inputs[1].shape), to_string(context.inputs[2].shape),
                to_string(x.shape));
  }
  return set_output(context, 0, x.dtype, x.shape);
}

PlanResult plan_channels(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const bool grouped = context.schema->name == "GroupNormalization";
  const int64_t spatial = element_count(Shape(x.begin() + 2, x.end()));
  const int64_t groups = grouped ? context.int_attr("num_groups") : x[1];
  Groups g;
  g.count = x[0] * groups;
  g.length = groups == 0 ? 0 : x[1] / groups * spatial;
  g.outer = std::max<int64_t>(groups, 1);
  const bool per_group = grouped && context.schema->since < 21;
  g.outer_step = per_group ? 1 : x[1] / g.outer;
  g.inner = std::max<int64_t>(1, per_group ? g.length : spatial);
  g.epsilon = static_cast<double>(context.float_attr("epsilon"));
  g.scale.input = 1, g.bias.input = 2;
  g.scale.count = g.bias.count = std::max<int64_t>(1, element_count(context.inputs[1].shape));
  return plan_groups(context, g);
}

Status mvn_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  for (int64_t axis : context.ints_attr("axes"))
    ANYNPU_TRY(normal_axis(context, axis, x.rank()).status());
  return set_output(context, 0, x.dtype, x.shape);
}

PlanResult plan_mvn(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  std::vector<bool> reduce(x.size(), false);
  for (int64_t raw : context.ints_attr("axes")) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, raw, context.inputs[0].rank()));
    reduce[static_cast<size_t>(axis)] = true;
  }
  const reduce::ReduceWalk walk = reduce::reduce_walk(x, reduce);
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(walk.outputs), 4, [&](size_t begin, size_t end) {
      for (auto o = static_cast<int64_t>(begin); o < static_cast<int64_t>(end); ++o) {
        const int64_t base = walk.base(o);
        const auto each = [&](auto&& body) {
          for (int64_t i = 0; i < walk.length;) {
            int64_t offset = 0, step = 0, count = 0;
            walk.run(i, offset, step, count);
            for (int64_t j = 0; j < count; ++j, ++i) body(base + offset + j * step);
          }
        };
        double mean = 0, square = 0, value = 0;
        const auto length = static_cast<double>(walk.length);
        each([&](int64_t at) { load(args.inputs[0], at, 0, &value, 1), mean += value; });
        mean /= length;
        each([&](int64_t at) {
          load(args.inputs[0], at, 0, &value, 1);
          square += (value - mean) * (value - mean);
        });
        const double deviation = std::sqrt(square / length) + 1e-9;
        each([&](int64_t at) {
          load(args.inputs[0], at, 0, &value, 1);
          value = (value - mean) / deviation;
          store(args.outputs[0], at, &value, 1);
        });
      }
    });
  });
}

}  // namespace

void register_norm_groups(Registry& registry) {
  const AttrSchema axis{"axis", AttrKind::i, int64_t{-1}}, epsilon{"epsilon", AttrKind::f, 1e-5f};
  const AttrSchema stash{"stash_type", AttrKind::i, int64_t{1}};
  registry.add(OpSchema{.name = "LayerNormalization",
                        .since = 17,
                        .inputs = {{"X", "T"}, {"Scale", "T"}, {"B", "T", Presence::optional}},
                        .outputs = {{"Y", "T"},
                                    {"Mean", "U", Presence::optional},
                                    {"InvStdDev", "U", Presence::optional}},
                        .types = {{"T", kFloats}},
                        .attrs = {axis, epsilon, stash},
                        .traits = OpTraits::linear(),
                        .shape = layer_rule});
  registry.add(OpSchema{.name = "RMSNormalization",
                        .since = 23,
                        .inputs = {{"X", "T"}, {"scale", "V"}},
                        .outputs = {{"Y", "V"}},
                        .types = {{"T", kFloats}, {"V", kFloats}},
                        .attrs = {axis, epsilon, stash},
                        .traits = OpTraits::general(),
                        .shape = layer_rule});
  OpSchema channels{.name = "InstanceNormalization",
                    .since = 6,
                    .inputs = {{"input", "T"}, {"scale", "T"}, {"B", "T"}},
                    .outputs = {{"output", "T"}},
                    .types = {{"T", kFloats}},
                    .attrs = {epsilon},
                    .traits = OpTraits::linear(),
                    .shape = channel_rule};
  registry.add(channels);
  channels.name = "GroupNormalization";
  channels.traits = OpTraits::general();
  channels.since = 18;
  channels.attrs.push_back({"num_groups", AttrKind::i, {}, true});
  registry.add(channels);
  channels.since = 21;
  channels.attrs.push_back(stash);
  registry.add(channels);
  registry.add(OpSchema{.name = "MeanVarianceNormalization",
                        .since = 9,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {{"axes", AttrKind::ints, std::vector<int64_t>{0, 2, 3}}},
                        .traits = OpTraits::general(),
                        .shape = mvn_rule});
  const auto add = [&](std::string_view op, auto create) {
    add_list(registry, op, {"norm_reference", kFloats, nullptr, create});
  };
  add("LayerNormalization", create_plain<plan_layer>);
  add("RMSNormalization", create_plain<plan_layer>);
  add("InstanceNormalization", create_plain<plan_channels>);
  add("GroupNormalization", create_plain<plan_channels>);
  add("MeanVarianceNormalization", create_plain<plan_mvn>);
}

}  // namespace anynpu::ops::norm
