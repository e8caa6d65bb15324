// SPDX-License-Identifier: Apache-2.0
// LinearRecurrence (domain anynpu): y[t] = factor[t] * y[t - 1] + added[t], from a first state on.
// The cells of an LSTM are one: factors are its forget gates.
#include <algorithm>

#include "base/align.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/rnn/rnn.h"

namespace anynpu::ops::rnn {

namespace linear_recurrence {

namespace {

Status rule(OpContext& context) {
  const Operand &factor = context.inputs[0], &added = context.inputs[1], &first = context.inputs[2];
  context.outputs[0].dtype = factor.dtype;
  for (const Operand& input : context.inputs) {
    if (!input.fully_known()) return {};
  }
  const bool fits = factor.rank() > 0 && added.shape == factor.shape &&
                    first.shape == Shape(factor.shape.begin() + 1, factor.shape.end());
  if (!fits) {
    return fail(Code::shape_mismatch,
                "{}: factors {}, what is added {} and the first state {}, expected equal shapes, "
                "and one without the first axis",
                context.label(), to_string(factor.shape), to_string(added.shape),
                to_string(first.shape));
  }
  return set_output(context, 0, factor.dtype, factor.shape);
}

template <typename T>
std::unique_ptr<KernelPlan> plan_of(int64_t steps, int64_t width) {
  return make_plan([steps, width](const RunArgs& args) {
    const T *factor = input_of<T>(args, 0), *added = input_of<T>(args, 1),
            *first = input_of<T>(args, 2);
    T* y = output_of<T>(args, 0);
    parallel(static_cast<size_t>(width), 4096, [&](size_t begin, size_t end) {
      for (int64_t t = 0; t < steps; ++t) {
        const T* before = t == 0 ? first : y + (t - 1) * width;
        const T *f = factor + t * width, *a = added + t * width;
        T* out = y + t * width;
        for (size_t i = begin; i < end; ++i) out[i] = f[i] * before[i] + a[i];
      }
    });
  });
}

// Short floats: states stay double and are rounded where they are written.
std::unique_ptr<KernelPlan> plan_of_short(DType type, int64_t steps, int64_t width) {
  return make_plan([type, steps, width](const RunArgs& args) {
    constexpr int64_t kBlock = 256;
    const auto load = load_block<double>(type);
    const auto store = store_block<double>(type);
    parallel(static_cast<size_t>(ceil_div(width, kBlock)), 16, [&](size_t begin, size_t end) {
      for (size_t block = begin; block < end; ++block) {
        const int64_t at = static_cast<int64_t>(block) * kBlock,
                      count = std::min(kBlock, width - at);
        double state[kBlock], factor[kBlock], added[kBlock];
        load(args.inputs[2], at, 1, state, count);
        for (int64_t t = 0; t < steps; ++t) {
          load(args.inputs[0], t * width + at, 1, factor, count);
          load(args.inputs[1], t * width + at, 1, added, count);
          for (int64_t i = 0; i < count; ++i) state[i] = factor[i] * state[i] + added[i];
          store(args.outputs[0], t * width + at, state, count);
        }
      }
    });
  });
}

PlanResult plan(const OpContext& context) {
  const Operand& first = context.inputs[2];
  const int64_t steps = context.inputs[0].shape[0], width = element_count(first.shape);
  if (first.dtype == DType::f32) return plan_of<float>(steps, width);
  return first.dtype == DType::f64 ? plan_of<double>(steps, width)
                                   : plan_of_short(first.dtype, steps, width);
}

}  // namespace

}  // namespace linear_recurrence

void register_linear_recurrence(Registry& registry) {
  registry.add(OpSchema{.name = "LinearRecurrence",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"factor", "T"}, {"added", "T"}, {"first", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .traits = OpTraits::general(),
                        .shape = linear_recurrence::rule});
  registry.add(KernelDef{.op = "LinearRecurrence",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_plain<linear_recurrence::plan>});
}

}  // namespace anynpu::ops::rnn
