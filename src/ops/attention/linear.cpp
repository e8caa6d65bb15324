// SPDX-License-Identifier: Apache-2.0
// LinearAttention: each head keeps a matrix S that every token reads and updates,
//   S = exp(decay) * S + k (x) beta * (v - S^T k),   y = scale * S^T q
// where the update rule says which of decay and correction are used. Heads run in parallel, tokens
// one after the other, in float32 as the definition says.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::attention {

namespace {

constexpr DTypeSet kLinearTypes{DType::f32, DType::f16, DType::bf16};

struct LinearShape {
  int64_t batch = 0, length = 0, heads = 1, kv_heads = 1;
  int64_t size = 0, value_size = 0;  // of a head of keys and of values
  bool gated = false, corrected = false;
  bool decay_per_key = false, beta_per_head = false;
  float scale = 1;

  int64_t group() const { return heads / kv_heads; }
};

Result<LinearShape> linear_shape_of(const OpContext& context) {
  LinearShape s;
  s.heads = context.int_attr("q_num_heads"), s.kv_heads = context.int_attr("kv_num_heads");
  if (s.kv_heads <= 0 || s.heads <= 0 || s.heads % s.kv_heads != 0) {
    return fail(Code::invalid_argument,
                "{}: {} heads of queries and {} of keys, expected a multiple", context.label(),
                s.heads, s.kv_heads);
  }
  const std::string rule = context.string_attr("update_rule");
  s.gated = rule == "gated" || rule == "gated_delta";
  s.corrected = rule == "delta" || rule == "gated_delta";
  if (!s.gated && !s.corrected && rule != "linear") {
    return fail(Code::invalid_argument,
                "{}: update_rule is '{}', expected linear, gated, delta or gated_delta",
                context.label(), rule);
  }
  if (s.gated != context.has_input(4) || s.corrected != context.has_input(5)) {
    return fail(Code::invalid_argument, "{}: update_rule '{}' goes with{} decay and with{} beta",
                context.label(), rule, s.gated ? "" : "out", s.corrected ? "" : "out");
  }
  const Shape &q = context.inputs[0].shape, &k = context.inputs[1].shape,
              &v = context.inputs[2].shape;
  bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && q[2] % s.heads == 0 &&
              v[2] % s.kv_heads == 0;
  if (fits) {
    s.batch = q[0], s.length = q[1], s.size = q[2] / s.heads, s.value_size = v[2] / s.kv_heads;
    const Shape tokens = {s.batch, s.length};
    const auto is = [&](const Shape& shape, int64_t width) {
      return shape.size() == 3 && Shape{shape[0], shape[1]} == tokens && shape[2] == width;
    };
    fits = is(k, s.kv_heads * s.size) && is(v, s.kv_heads * s.value_size);
    if (s.gated) {
      const Shape& decay = context.inputs[4].shape;
      s.decay_per_key = !is(decay, s.kv_heads);
      fits = fits && (!s.decay_per_key || is(decay, s.kv_heads * s.size));
    }
    if (s.corrected) {
      const Shape& beta = context.inputs[5].shape;
      s.beta_per_head = !is(beta, 1);
      fits = fits && (!s.beta_per_head || is(beta, s.kv_heads));
    }
    fits = fits && (!context.has_input(3) ||
                    context.inputs[3].shape == Shape{s.batch, s.kv_heads, s.size, s.value_size});
  }
  if (!fits) {
    std::string shapes;
    for (const Operand& input : context.inputs) {
      shapes += (shapes.empty() ? "" : ", ") + (input.present ? to_string(input.shape) : "none");
    }
    return fail(Code::shape_mismatch,
                "{}: query, key, value, past_state, decay and beta are {} for {} and {} heads; "
                "expected batch x length x heads * size, and a state of batch x heads x size x "
                "value size",
                context.label(), shapes, s.heads, s.kv_heads);
  }
  s.scale = context.float_attr("scale");
  if (s.scale == 0) s.scale = 1 / std::sqrt(static_cast<float>(s.size));
  return s;
}

Status linear_rule(OpContext& context) {
  const DType type = context.inputs[0].dtype;
  const DType state = context.has_input(3) ? context.inputs[3].dtype : type;
  context.outputs[0].dtype = type;
  if (context.outputs.size() > 1) context.outputs[1].dtype = state;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const LinearShape s, linear_shape_of(context));
  ANYNPU_TRY(set_output(context, 0, type, {s.batch, s.length, s.heads * s.value_size}));
  return set_output(context, 1, state, {s.batch, s.kv_heads, s.size, s.value_size});
}

void read(DType type, const std::byte* data, int64_t at, int64_t count, float* to) {
  const std::byte* from = data + static_cast<size_t>(at) * size_of(type);
  if (type == DType::f32) {
    std::copy_n(reinterpret_cast<const float*>(from), count, to);
  } else {
    widen(type, from, to, static_cast<size_t>(count));
  }
}
void write(DType type, const float* from, std::byte* data, int64_t at, int64_t count) {
  std::byte* to = data + static_cast<size_t>(at) * size_of(type);
  if (type == DType::f32) {
    std::copy_n(from, count, reinterpret_cast<float*>(to));
  } else {
    narrow(type, from, to, static_cast<size_t>(count));
  }
}

// y += a * x
void add_scaled(float a, const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += a * x[i];
}

class LinearPlan final : public KernelPlan {
 public:
  LinearShape s;
  DType type = DType::f32, state_type = DType::f32;
  bool has_past = false;

  // Of a head: the state, one row each of key or query, of decays, of values and of results.
  int64_t scratch_floats() const { return s.size * s.value_size + 2 * s.size + 2 * s.value_size; }

  Status run(const RunArgs& args) const override {
    parallel_tasks(static_cast<size_t>(s.batch * s.kv_heads), [&](size_t task) {
      attend(
          args, static_cast<int64_t>(task),
          reinterpret_cast<float*>(args.workspace) + static_cast<int64_t>(task) * scratch_floats());
    });
    return {};
  }

 private:
  void attend(const RunArgs& args, int64_t task, float* state) const {
    const int64_t b = task / s.kv_heads, h = task % s.kv_heads, cells = s.size * s.value_size;
    float *row = state + cells, *decay = row + s.size, *value = decay + s.size,
          *result = value + s.value_size;
    std::fill_n(state, cells, 0.0f);
    if (has_past) read(state_type, args.inputs[3], task * cells, cells, state);
    for (int64_t t = 0; t < s.length; ++t) {
      const int64_t token = b * s.length + t, at = token * s.kv_heads + h;
      read(type, args.inputs[1], at * s.size, s.size, row);
      read(type, args.inputs[2], at * s.value_size, s.value_size, value);
      if (s.gated) fade(args, at, decay, state);
      if (s.corrected) correct(args, s.beta_per_head ? at : token, state, row, result, value);
      for (int64_t d = 0; d < s.size; ++d)
        add_scaled(row[d], value, state + d * s.value_size, s.value_size);
      for (int64_t g = 0; g < s.group(); ++g) {
        const int64_t head = token * s.heads + h * s.group() + g;
        read(type, args.inputs[0], head * s.size, s.size, row);
        std::fill_n(result, s.value_size, 0.0f);
        for (int64_t d = 0; d < s.size; ++d)
          add_scaled(row[d], state + d * s.value_size, result, s.value_size);
        for (int64_t i = 0; i < s.value_size; ++i) result[i] *= s.scale;
        write(type, result, args.outputs[0], head * s.value_size, s.value_size);
      }
    }
    if (args.outputs.size() > 1 && args.outputs[1])
      write(state_type, state, args.outputs[1], task * cells, cells);
  }

  // The state times exp(decay): one factor for the head, or one for each of its keys.
  void fade(const RunArgs& args, int64_t at, float* decay, float* state) const {
    const int64_t count = s.decay_per_key ? s.size : 1;
    read(type, args.inputs[4], at * count, count, decay);
    for (int64_t i = 0; i < count; ++i) decay[i] = std::exp(decay[i]);
    for (int64_t d = 0; d < s.size; ++d) {
      const float factor = decay[s.decay_per_key ? d : 0];
      float* line = state + d * s.value_size;
      for (int64_t i = 0; i < s.value_size; ++i) line[i] *= factor;
    }
  }

  // value = beta * (value - what the state gives for the key).
  void correct(const RunArgs& args, int64_t at, const float* state, const float* key, float* known,
               float* value) const {
    float beta = 0;
    read(type, args.inputs[5], at, 1, &beta);
    std::fill_n(known, s.value_size, 0.0f);
    for (int64_t d = 0; d < s.size; ++d)
      add_scaled(key[d], state + d * s.value_size, known, s.value_size);
    for (int64_t i = 0; i < s.value_size; ++i) value[i] = beta * (value[i] - known[i]);
  }
};

PlanResult plan_linear(const OpContext& context) {
  auto plan = std::make_unique<LinearPlan>();
  ANYNPU_ASSIGN(plan->s, linear_shape_of(context));
  plan->type = context.inputs[0].dtype;
  plan->has_past = context.has_input(3);
  plan->state_type = plan->has_past ? context.inputs[3].dtype : plan->type;
  plan->workspace_bytes =
      static_cast<size_t>(plan->s.batch * plan->s.kv_heads * plan->scratch_floats()) *
      sizeof(float);
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

void register_linear_attention(Registry& registry) {
  registry.add(OpSchema{.name = "LinearAttention",
                        .since = 27,
                        .inputs = {{"query", "T"},
                                   {"key", "T"},
                                   {"value", "T"},
                                   {"past_state", "S", Presence::optional},
                                   {"decay", "T", Presence::optional},
                                   {"beta", "T", Presence::optional}},
                        .outputs = {{"output", "T"}, {"present_state", "S", Presence::optional}},
                        .types = {{"T", kLinearTypes}, {"S", kLinearTypes}},
                        .attrs = {{"chunk_size", AttrKind::i, int64_t{64}},
                                  {"kv_num_heads", AttrKind::i, {}, true},
                                  {"q_num_heads", AttrKind::i, {}, true},
                                  {"scale", AttrKind::f, 0.0f},
                                  {"update_rule", AttrKind::s, std::string_view("gated_delta")}},
                        .traits = OpTraits::general(),
                        .shape = linear_rule});
  registry.add(KernelDef{.op = "LinearAttention",
                         .name = "linear_attention",
                         .types = kLinearTypes,
                         .create = create_plain<plan_linear>});
}

}  // namespace anynpu::ops::attention
