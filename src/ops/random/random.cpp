// SPDX-License-Identifier: Apache-2.0
// Random numbers, drawn from a counter: element i of a node is a function of i and of the node's
// seed (its attribute, else its name), so that a model always gives the same bytes. The numbers
// follow no standard.
#include "ops/random/random.h"

#include <cmath>
#include <cstring>

#include "ops/elements/cast_attributes.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::random {

namespace {

// splitmix64 of Steele, Lea and Flood: every counter gives 64 mixed bits.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

struct Draw {
  uint64_t seed = 0;

  // In [0, 1).
  double uniform(int64_t index) const {
    return static_cast<double>(mix(seed ^ mix(static_cast<uint64_t>(index))) >> 11) * 0x1p-53;
  }
  // Box and Muller's transform of two of them.
  double normal(int64_t index) const {
    const double radius = std::sqrt(-2 * std::log1p(-uniform(2 * index)));
    return radius * std::cos(2 * M_PI * uniform(2 * index + 1));
  }
};

Draw draw_of(const OpContext& context) {
  uint64_t seed = 0;
  if (context.has_attr("seed")) {
    const float given = context.float_attr("seed");
    uint32_t bits;
    std::memcpy(&bits, &given, sizeof bits);
    return {mix(bits)};
  }
  for (char c : context.node->name) seed = mix(seed ^ static_cast<unsigned char>(c));
  return {seed};
}

bool is(const OpContext& context, std::string_view part) {
  return context.schema->name.find(part) != std::string_view::npos;
}

// The type that `dtype` names; else that of the input, or `otherwise`.
Result<DType> result_type(const OpContext& context, DType otherwise) {
  if (context.has_attr("dtype")) return dtype_of_onnx(context, context.int_attr("dtype"));
  return otherwise;
}

Status shaped_rule(OpContext& context) {
  ANYNPU_ASSIGN(const DType type, result_type(context, DType::f32));
  return set_output(context, 0, type, context.ints_attr("shape"));
}

Status like_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(const DType type, result_type(context, x.dtype));
  context.outputs[0].dtype = type;
  return x.has_shape ? set_output(context, 0, type, x.shape) : Status{};
}

PlanResult plan_numbers(const OpContext& context) {
  const Draw draw = draw_of(context);
  const int64_t count = element_count(context.outputs[0].shape);
  const auto store = store_block<double>(context.outputs[0].dtype);
  if (!store) return no_kernel_for(context);
  const bool normal = is(context, "Normal");
  const double shift = context.float_attr(normal ? "mean" : "low");
  const double scale = normal ? context.float_attr("scale") : context.float_attr("high") - shift;
  return make_plan([=](const RunArgs& args) {
    for (int64_t i = 0; i < count; ++i) {
      const double value = shift + scale * (normal ? draw.normal(i) : draw.uniform(i));
      store(args.outputs[0], i, &value, 1);
    }
  });
}

// 1 with the probability that the input gives.
PlanResult plan_bernoulli(const OpContext& context) {
  const Draw draw = draw_of(context);
  const int64_t count = element_count(context.outputs[0].shape);
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  if (!store || !load) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    for (int64_t i = 0; i < count; ++i) {
      double probability = 0;
      load(args.inputs[0], i, 1, &probability, 1);
      const double value = draw.uniform(i) < probability ? 1 : 0;
      store(args.outputs[0], i, &value, 1);
    }
  });
}

Status multinomial_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(const DType type, result_type(context, DType::i32));
  context.outputs[0].dtype = type;
  if (!x.has_shape) return {};
  const int64_t samples = context.int_attr("sample_size");
  if (x.rank() != 2 || samples < 1) {
    return fail(Code::unsupported_shape, "{}: input {} and sample_size {}; expected a matrix and 1",
                context.label(), to_string(x.shape), samples);
  }
  return set_output(context, 0, type, {x.shape[0], samples});
}

// Classes drawn by their logarithms of probabilities: the largest of logarithm + Gumbel noise.
PlanResult plan_multinomial(const OpContext& context) {
  const Draw draw = draw_of(context);
  const int64_t batch = context.inputs[0].shape[0], classes = context.inputs[0].shape[1];
  const int64_t samples = context.outputs[0].shape[1];
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  if (!store || !load) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    for (int64_t i = 0; i < batch * samples; ++i) {
      double best = -INFINITY, chosen = 0;
      for (int64_t c = 0; c < classes; ++c) {
        double weight = 0;
        load(args.inputs[0], i / samples * classes + c, 1, &weight, 1);
        const double noise = -std::log(-std::log1p(-draw.uniform(i * classes + c)));
        if (weight + noise > best) best = weight + noise, chosen = static_cast<double>(c);
      }
      store(args.outputs[0], i, &chosen, 1);
    }
  });
}

}  // namespace

PlanResult plan_dropout(const OpContext& context) {
  Draw draw = draw_of(context);
  if (context.has_attr("seed")) draw.seed = mix(static_cast<uint64_t>(context.int_attr("seed")));
  const Operand& x = context.inputs[0];
  const int64_t count = element_count(x.shape);
  const auto load = load_block<double>(x.dtype);
  const auto store = store_block<double>(x.dtype, {Overflow::special});  // infinity stays
  const bool has_ratio = context.has_input(1), has_mode = context.has_input(2);
  const auto ratio_at = load_block<double>(has_ratio ? context.inputs[1].dtype : DType::f32);
  const bool mask = context.outputs.size() > 1 && context.outputs[1].present;
  if (!load || !store || !ratio_at || (mask && context.outputs[1].dtype != DType::boolean))
    return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    double ratio = 0.5;
    if (has_ratio) ratio_at(args.inputs[1], 0, 1, &ratio, 1);
    if (!has_mode || args.inputs[2][0] == std::byte{0}) ratio = 0;
    for (int64_t i = 0; i < count; ++i) {
      const bool kept = draw.uniform(i) >= ratio;
      double value = 0;
      load(args.inputs[0], i, 1, &value, 1);
      value = kept ? value / (1 - ratio) : 0;
      store(args.outputs[0], i, &value, 1);
      if (mask) args.outputs[1][i] = std::byte{kept};
    }
  });
}

namespace {

void add(Registry& registry, OpSchema schema, decltype(KernelDef::create) create) {
  schema.attrs.push_back({"seed", AttrKind::f});
  schema.attrs.push_back({"dtype", AttrKind::i});
  const KernelDef kernel{
      .op = schema.name, .name = "reference", .types = kAnyFixed, .create = create};
  registry.add(std::move(schema));
  registry.add(kernel);
}

}  // namespace

void register_family(Registry& registry) {
  register_philox(registry);
  const std::vector<AttrSchema> uniform = {{"low", AttrKind::f, 0.0f}, {"high", AttrKind::f, 1.0f}};
  const std::vector<AttrSchema> normal = {{"mean", AttrKind::f, 0.0f},
                                          {"scale", AttrKind::f, 1.0f}};
  for (const char* name : {"RandomUniform", "RandomNormal"}) {
    OpSchema schema{.name = name,
                    .outputs = {{"output", "O"}},
                    .traits = OpTraits::random(),
                    .shape = shaped_rule};
    schema.attrs = std::string_view(name) == "RandomUniform" ? uniform : normal;
    schema.attrs.push_back({"shape", AttrKind::ints, {}, true});
    add(registry, std::move(schema), create_plain<plan_numbers>);
  }
  for (const char* name : {"RandomUniformLike", "RandomNormalLike"}) {
    OpSchema schema{.name = name,
                    .inputs = {{"input", "T"}},
                    .outputs = {{"output", "O"}},
                    .types = {{"T", kAnyFixed}},
                    .traits = OpTraits::random(),
                    .shape = like_rule};
    schema.attrs = std::string_view(name) == "RandomUniformLike" ? uniform : normal;
    add(registry, std::move(schema), create_plain<plan_numbers>);
  }
  add(registry,
      OpSchema{.name = "Bernoulli",
               .since = 15,
               .inputs = {{"input", "T"}},
               .outputs = {{"output", "O"}},
               .types = {{"T", kFloats}},
               .traits = OpTraits::random(),
               .shape = like_rule},
      create_plain<plan_bernoulli>);
  add(registry,
      OpSchema{.name = "Multinomial",
               .since = 7,
               .inputs = {{"input", "T"}},
               .outputs = {{"output", "O"}},
               .types = {{"T", kFloats}},
               .attrs = {{"sample_size", AttrKind::i, int64_t{1}}},
               .traits = OpTraits::random(),
               .shape = multinomial_rule},
      create_plain<plan_multinomial>);
}

}  // namespace anynpu::ops::random
