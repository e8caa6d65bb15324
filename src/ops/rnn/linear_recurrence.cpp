// SPDX-License-Identifier: Apache-2.0
// LinearRecurrence (domain anynpu): y[t] = factor[t] * y[t - 1] + added[t], from a first state on. The
// cells of an LSTM are one: factors are its forget gates.
#include <algorithm>

#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/rnn/rnn.h"
#include "ops/widen.h"

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
    return fail(Code::shape_mismatch, "{}: factors {}, what is added {} and the first state {}, expected equal shapes, "
                "and one without the first axis", context.label(), to_string(factor.shape), to_string(added.shape),
                to_string(first.shape));
  }
  return set_output(context, 0, factor.dtype, factor.shape);
}

template <typename T>
std::unique_ptr<KernelPlan> plan_of(int64_t steps, int64_t width) {
  return make_plan([steps, width](const RunArgs& args) {
    const T *factor = input_of<T>(args, 0), *added = input_of<T>(args, 1), *first = input_of<T>(args, 2);
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

PlanResult plan(const OpContext& context) {
  const Operand& first = context.inputs[2];
  const int64_t steps = context.inputs[0].shape[0], width = element_count(first.shape);
  return first.dtype == DType::f32 ? plan_of<float>(steps, width) : plan_of<double>(steps, width);
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
  static constexpr KernelLine kLines[] = {
      {"reference", {DType::f32, DType::f64}, nullptr, create_plain<linear_recurrence::plan>},
      {"widened", kShortFloats, can_run_widened, create_widened},
  };
  registry.add_kernels("LinearRecurrence", kLines, "anynpu");
}

}  // namespace anynpu::ops::rnn
