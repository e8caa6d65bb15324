// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of elements of every head turn by an angle that belongs to the position
// of the token; the caches hold the cosines and sines.
#include "ops/attention/attention.h"
#include "ops/elements/index_value.h"
#include "ops/elements/map_elements.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "tensor/element.h"

namespace anynpu::ops::attention {

namespace {

constexpr DTypeSet kRotaryTypes{DType::f32, DType::f16, DType::bf16};

struct Rotary {
  int64_t batch = 0, length = 0, heads = 0, size = 0;
  int64_t half = 0;                                       // pairs of a head that turn
  int64_t positions = 0;                                  // rows of the caches
  int64_t token_step = 0, head_step = 0, batch_step = 0;  // in elements
  bool interleaved = false, indexed = false;
};

// All extents known.
Result<Rotary> rotary_of(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &cosines = context.inputs[1].shape,
              &sines = context.inputs[2].shape;
  Rotary r;
  const int64_t heads = context.int_attr("num_heads");
  if (x.size() == 4) {
    r.batch = x[0], r.heads = x[1], r.length = x[2], r.size = x[3];
    r.token_step = r.size, r.head_step = r.length * r.size;
  } else if (x.size() == 3 && heads > 0 && x[2] % heads == 0) {
    r.batch = x[0], r.length = x[1], r.heads = heads, r.size = x[2] / heads;
    r.token_step = x[2], r.head_step = r.size;
  } else {
    return fail(Code::shape_mismatch,
                "{}: X is {} with num_heads {}; expected batch x heads x length x size, or batch x "
                "length x heads * size with num_heads",
                context.label(), to_string(x), heads);
  }
  r.batch_step = r.heads * r.length * r.size;
  const int64_t stated = context.int_attr("rotary_embedding_dim");
  const int64_t turned = stated == 0 ? r.size : stated;
  if (turned < 0 || turned > r.size || turned % 2 != 0) {
    return fail(Code::invalid_argument,
                "{}: rotary_embedding_dim {} of heads of {} elements; expected an even number of "
                "them",
                context.label(), turned, r.size);
  }
  r.half = turned / 2;
  r.interleaved = context.int_attr("interleaved") != 0;
  r.indexed = context.has_input(3);
  const Shape tokens = {r.batch, r.length};
  Shape wanted = tokens;
  wanted.push_back(r.half);
  if (r.indexed) {
    r.positions = cosines.size() == 2 ? cosines[0] : 0;
    wanted = {r.positions, r.half};
  }
  if (cosines != wanted || sines != wanted) {
    return fail(Code::shape_mismatch, "{}: the caches are {} and {}, expected {}", context.label(),
                to_string(cosines), to_string(sines),
                r.indexed ? format("positions x {}", r.half) : to_string(wanted));
  }
  if (r.indexed && context.inputs[3].shape != tokens) {
    return fail(Code::shape_mismatch, "{}: position_ids is {}, expected {}", context.label(),
                to_string(context.inputs[3].shape), to_string(tokens));
  }
  return r;
}

Status rotary_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  bool known = true;
  for (const Operand& input : context.inputs) known &= !input.present || input.fully_known();
  if (known) ANYNPU_TRY(rotary_of(context).status());
  return set_output(context, 0, x.dtype, x.shape);
}

template <typename T>
void turn(const Rotary& r, const T* x, const T* cosines, const T* sines, T* y) {
  const int64_t step = r.interleaved ? 2 : 1, second = r.interleaved ? 1 : r.half;
  map_elements(static_cast<size_t>(r.half), [=](size_t i) {
    const auto at = static_cast<int64_t>(i) * step;
    const float a = Element<T>::load(x[at]), b = Element<T>::load(x[at + second]);
    const float c = Element<T>::load(cosines[i]), s = Element<T>::load(sines[i]);
    y[at] = Element<T>::store(c * a - s * b);
    y[at + second] = Element<T>::store(s * a + c * b);
  });
  std::copy(x + 2 * r.half, x + r.size, y + 2 * r.half);
}

template <typename T>
void turn_tokens(const Rotary& r, const RunArgs& args) {
  const int64_t* positions = r.indexed ? input_of<int64_t>(args, 3) : nullptr;
  const auto least = static_cast<size_t>(4096 / (r.heads * r.size + 1) + 1);
  parallel(static_cast<size_t>(r.batch * r.length), least, [&](size_t begin, size_t end) {
    for (auto token = static_cast<int64_t>(begin); token < static_cast<int64_t>(end); ++token) {
      const int64_t row = (positions ? positions[token] : token) * r.half;
      for (int64_t h = 0; h < r.heads; ++h) {
        const int64_t at =
            token / r.length * r.batch_step + token % r.length * r.token_step + h * r.head_step;
        turn(r, input_of<T>(args, 0) + at, input_of<T>(args, 1) + row, input_of<T>(args, 2) + row,
             output_of<T>(args, 0) + at);
      }
    }
  });
}

PlanResult plan_rotary(const OpContext& context) {
  ANYNPU_ASSIGN(const Rotary r, rotary_of(context));
  std::unique_ptr<KernelPlan> plan;
  const auto make = [&](auto zero) {
    plan = make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
      for (int64_t i = 0; r.indexed && i < r.batch * r.length; ++i) {
        const int64_t position = input_of<int64_t>(args, 3)[i];
        if (position < 0 || position >= r.positions)
          return index_failure(label, position, r.positions);
      }
      turn_tokens<decltype(zero)>(r, args);
      return {};
    });
  };
  const DType type = context.inputs[0].dtype;
  if (type == DType::f32) make(float{});
  if (type == DType::f16) make(F16{});
  if (type == DType::bf16) make(BF16{});
  if (!plan) return no_kernel_for(context);
  plan->in_place_input = 0;
  return plan;
}

}  // namespace

void register_rotary(Registry& registry) {
  registry.add(OpSchema{.name = "RotaryEmbedding",
                        .since = 23,
                        .inputs = {{"X", "T"},
                                   {"cos_cache", "T"},
                                   {"sin_cache", "T"},
                                   {"position_ids", "M", Presence::optional}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kRotaryTypes}, {"M", {DType::i64}}},
                        .attrs = {{"interleaved", AttrKind::i, int64_t{0}},
                                  {"num_heads", AttrKind::i, int64_t{0}},
                                  {"rotary_embedding_dim", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general(),
                        .shape = rotary_rule});
  registry.add(KernelDef{.op = "RotaryEmbedding",
                         .name = "rotary",
                         .types = kRotaryTypes,
                         .create = create_plain<plan_rotary>});
}

}  // namespace anynpu::ops::attention
