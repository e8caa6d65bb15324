// SPDX-License-Identifier: Apache-2.0
// One step of Momentum, Adagrad and Adam (domain ai.onnx.preview.training): rate, step count, then
// n tensors, n gradients and n of each state; out come the n tensors and their states.
#include <cmath>

#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::training {

namespace {

constexpr std::string_view kDomain = "ai.onnx.preview.training";
constexpr DTypeSet kReal{DType::f32, DType::f64};

struct Settings {
  double rate = 0, step = 0, alpha = 0, beta = 0, epsilon = 0, decay = 0, norm = 0, norm_post = 0;
  bool nesterov = false;
};

// x and its states are changed in place.
using StepFunction = void (*)(const Settings& s, double gradient, double& x, double* state);

void momentum(const Settings& s, double g, double& x, double* v) {
  g += s.norm * x;
  v[0] = s.alpha * v[0] + (s.step > 0 ? s.beta : 1) * g;
  x -= s.rate * (s.nesterov ? g + s.alpha * v[0] : v[0]);
}
void adagrad(const Settings& s, double g, double& x, double* h) {
  g += s.norm * x;
  h[0] += g * g;
  x -= s.rate / (1 + s.step * s.decay) * g / (std::sqrt(h[0]) + s.epsilon);
}
void adam(const Settings& s, double g, double& x, double* state) {
  g += s.norm * x;
  state[0] = s.alpha * state[0] + (1 - s.alpha) * g;
  state[1] = s.beta * state[1] + (1 - s.beta) * g * g;
  const double rate = s.step > 0 ? s.rate * std::sqrt(1 - std::pow(s.beta, s.step)) /
                                       (1 - std::pow(s.alpha, s.step))
                                 : s.rate;
  x = (1 - s.norm_post) * (x - rate * state[0] / (std::sqrt(state[1]) + s.epsilon));
}

struct OptimizerRow {
  std::string_view name;
  size_t states;
  StepFunction step;
};
constexpr OptimizerRow kRows[] = {
    {"Momentum", 1, momentum}, {"Adagrad", 1, adagrad}, {"Adam", 2, adam}};

const OptimizerRow& row_of(const OpContext& context) {
  for (const OptimizerRow& row : kRows) {
    if (row.name == context.schema->name) return row;
  }
  return kRows[0];
}

Status step_rule(OpContext& context) {
  const OptimizerRow& row = row_of(context);
  const size_t count = context.inputs.size() - 2, each = row.states + 2;
  const size_t n = count / each;
  if (count % each != 0 || context.outputs.size() != n * (row.states + 1)) {
    return fail(Code::invalid_argument,
                "{}: {} inputs and {} outputs, expected 2 + {} and {} per tensor", context.label(),
                context.inputs.size(), context.outputs.size(), each, row.states + 1);
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    const Operand& x = context.inputs[2 + i % n];
    for (size_t k = 0; k < each; ++k) {
      const Operand& other = context.inputs[2 + i % n + k * n];
      if (x.fully_known() && other.fully_known() && other.shape != x.shape) {
        return fail(Code::shape_mismatch, "{}: tensors of one group are {} and {}", context.label(),
                    to_string(x.shape), to_string(other.shape));
      }
    }
    context.outputs[i].dtype = x.dtype;
    if (x.has_shape) ANYNPU_TRY(set_output(context, i, x.dtype, x.shape));
  }
  return {};
}

PlanResult plan_step(const OpContext& context) {
  const OptimizerRow& row = row_of(context);
  Settings fixed;
  const auto real = [&](std::string_view key) {
    return static_cast<double>(context.float_attr(key));
  };
  fixed.alpha = real("alpha"), fixed.beta = real("beta"), fixed.epsilon = real("epsilon");
  fixed.decay = real("decay_factor"), fixed.norm = real("norm_coefficient");
  fixed.norm_post = real("norm_coefficient_post");
  fixed.nesterov = context.string_attr("mode") == "nesterov";
  const size_t n = (context.inputs.size() - 2) / (row.states + 2);
  const DType rate_type = context.inputs[0].dtype,
              type = n == 0 ? rate_type : context.inputs[2].dtype;
  std::vector<int64_t> counts;
  for (size_t i = 0; i < n; ++i) counts.push_back(element_count(context.inputs[2 + i].shape));
  return make_plan([=, step = row.step, states = row.states](const RunArgs& args) {
    Settings s = fixed;
    s.rate = load_one<double>(rate_type, args.inputs[0]);
    s.step = load_one<double>(DType::i64, args.inputs[1]);
    const auto store = store_block<double>(type);
    for (size_t t = 0; t < n; ++t) {
      for (int64_t i = 0; i < counts[t]; ++i) {
        const auto read = [&](size_t part) {
          return load_one<double>(type, args.inputs[2 + t + part * n], i);
        };
        double x = read(0), state[2] = {read(2), states > 1 ? read(3) : 0};
        step(s, read(1), x, state);
        if (args.outputs[t]) store(args.outputs[t], i, &x, 1);
        for (size_t k = 0; k < states; ++k) {
          if (args.outputs[t + (k + 1) * n]) store(args.outputs[t + (k + 1) * n], i, &state[k], 1);
        }
      }
    }
  });
}

}  // namespace

void register_family(Registry& registry) {
  const auto real = [](std::string_view name, float value) {
    return AttrSchema{name, AttrKind::f, value};
  };
  for (const OptimizerRow& row : kRows) {
    const bool is_adam = row.name == "Adam";
    registry.add(OpSchema{.name = row.name,
                          .domain = kDomain,
                          .since = 1,
                          .inputs = {{"R", "R"}, {"T", "I"}, {"inputs", "V", Presence::variadic}},
                          .outputs = {{"outputs", "V", Presence::variadic}},
                          .types = {{"R", kReal}, {"I", {DType::i64}}, {"V", kReal}},
                          .attrs = {real("alpha", is_adam ? 0.9f : 0.0f),
                                    real("beta", is_adam ? 0.999f : 0.0f),
                                    real("epsilon", 1e-6f),
                                    real("decay_factor", 0.0f),
                                    real("norm_coefficient", 0.0f),
                                    real("norm_coefficient_post", 0.0f),
                                    {"mode", AttrKind::s, std::string_view("standard")}},
                          .traits = OpTraits::general(),
                          .shape = step_rule});
    registry.add(KernelDef{.op = row.name,
                           .name = "reference",
                           .domain = kDomain,
                           .types = kReal,
                           .create = create_plain<plan_step>});
  }
}

}  // namespace anynpu::ops::training
