// SPDX-License-Identifier: Apache-2.0
// FusedAttention: schema, shape rule and the reference kernel.
#include <cmath>

#include "ops/attention/attention.h"
#include "ops/broadcast.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops {

Result<AttentionShape> attention_shape_of(const OpContext& context) {
  const Shape &q = context.inputs[0].shape, &k = context.inputs[1].shape,
              &v = context.inputs[2].shape;
  AttentionShape a;
  a.heads = context.int_attr("heads");
  bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && a.heads > 0;
  fits = fits && q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && q[2] == k[2] &&
         q[2] % a.heads == 0 && v[2] % a.heads == 0;
  if (!fits) {
    return fail(
        Code::shape_mismatch,
        "{}: Q is {}, K is {}, V is {} for {} heads; expected batch x length x heads * size",
        context.label(), to_string(q), to_string(k), to_string(v), a.heads);
  }
  a.batch = q[0], a.rows = q[1], a.columns = k[1];
  a.size = q[2] / a.heads, a.value_size = v[2] / a.heads;
  a.scale = context.float_attr("scale");
  a.has_mask = context.has_input(3);
  if (!a.has_mask) return a;
  const Shape& mask = context.inputs[3].shape;
  const Shape full = {a.batch, a.heads, a.rows, a.columns};
  const auto both = broadcast(mask, full);
  if (!both.ok() || *both != full) {
    return fail(Code::shape_mismatch, "{}: the mask is {}, expected a shape that broadcasts to {}",
                context.label(), to_string(mask), to_string(full));
  }
  int64_t step = 1;
  for (size_t i = 0; i < mask.size(); ++i) {
    const int64_t extent = mask[mask.size() - 1 - i];
    a.mask_steps[3 - i] = extent == 1 ? 0 : step;
    step *= extent;
  }
  return a;
}

namespace {

Status attention_rule(OpContext& context) {
  Operand& y = context.outputs[0];
  y.dtype = context.inputs[0].dtype;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  y.shape = {a.batch, a.rows, a.heads * a.value_size};
  y.has_shape = true;
  return {};
}

double element(DType type, const std::byte* data, int64_t index) {
  double value = 0;
  visit_floats(type, [&](auto zero) {
    using T = decltype(zero);
    value = static_cast<double>(Element<T>::load(reinterpret_cast<const T*>(data)[index]));
  });
  return value;
}

// One row of one head in double; `weights` holds `columns` numbers.
template <typename T>
void attend(const AttentionShape& a, DType mask_type, const RunArgs& args, int64_t b, int64_t h,
            int64_t row, double* weights) {
  const T* q = input_of<T>(args, 0) + ((b * a.rows + row) * a.heads + h) * a.size;
  const auto value = [](T x) { return static_cast<double>(Element<T>::load(x)); };
  double top = -INFINITY, sum = 0;
  for (int64_t j = 0; j < a.columns; ++j) {
    const T* k = input_of<T>(args, 1) + ((b * a.columns + j) * a.heads + h) * a.size;
    double dot = 0;
    for (int64_t i = 0; i < a.size; ++i) dot += value(q[i]) * value(k[i]);
    weights[j] = dot * static_cast<double>(a.scale);
    if (a.has_mask) {
      weights[j] +=
          element(mask_type, args.inputs[3], a.mask_offset(b, h, row) + j * a.mask_steps[3]);
    }
    top = std::max(top, weights[j]);
  }
  for (int64_t j = 0; j < a.columns; ++j) sum += weights[j] = std::exp(weights[j] - top);
  T* y = output_of<T>(args, 0) + ((b * a.rows + row) * a.heads + h) * a.value_size;
  for (int64_t i = 0; i < a.value_size; ++i) {
    double total = 0;
    for (int64_t j = 0; j < a.columns; ++j) {
      total += weights[j] *
               value(input_of<T>(args, 2)[((b * a.columns + j) * a.heads + h) * a.value_size + i]);
    }
    y[i] = Element<T>::store(total / sum);
  }
}

PlanResult plan_reference(const OpContext& context) {
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  const DType mask_type = a.has_mask ? context.inputs[3].dtype : DType::f32;
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    plan = make_plan([=](const RunArgs& args) {
      parallel(static_cast<size_t>(a.batch * a.heads), 1, [&](size_t begin, size_t end) {
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          auto* weights = reinterpret_cast<double*>(args.workspace) + i * a.columns;
          for (int64_t row = 0; row < a.rows; ++row) {
            attend<T>(a, mask_type, args, i / a.heads, i % a.heads, row, weights);
          }
        }
      });
    });
  });
  if (!plan) return no_kernel_for(context);
  plan->workspace_bytes = static_cast<size_t>(a.batch * a.heads * a.columns) * sizeof(double);
  return plan;
}

}  // namespace

void register_attention(Registry& registry) {
  register_rotary(registry);
  register_linear_attention(registry);
  registry.add(
      OpSchema{.name = "FusedAttention",
               .domain = "anynpu",
               .since = 1,
               .inputs = {{"Q", "T"}, {"K", "T"}, {"V", "T"}, {"mask", "M", Presence::optional}},
               .outputs = {{"Y", "T"}},
               .types = {{"T", kFloats}, {"M", kFloats}},
               .attrs = {{"heads", AttrKind::i, int64_t{1}}, {"scale", AttrKind::f, 1.0f}},
               .shape = attention_rule});
  registry.add(KernelDef{.op = "FusedAttention",
                         .name = "attention_avx512",
                         .domain = "anynpu",
                         .types = kTiledTypes,
                         .can_run = can_run_tiled_attention<Isa::avx512>,
                         .create = create_tiled_attention<Isa::avx512>});
  registry.add(KernelDef{.op = "FusedAttention",
                         .name = "attention_avx2",
                         .domain = "anynpu",
                         .types = kTiledTypes,
                         .can_run = can_run_tiled_attention<Isa::avx2>,
                         .create = create_tiled_attention<Isa::avx2>});
  registry.add(KernelDef{.op = "FusedAttention",
                         .name = "attention_baseline",
                         .domain = "anynpu",
                         .types = kTiledTypes,
                         .can_run = can_run_tiled_attention<Isa::baseline>,
                         .create = create_tiled_attention<Isa::baseline>});
  registry.add(KernelDef{.op = "FusedAttention",
                         .name = "attention_reference",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_plain<plan_reference>});
}

}  // namespace anynpu::ops
