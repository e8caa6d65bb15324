// SPDX-License-Identifier: Apache-2.0
// LRN: each element divided by a power of the squares of its neighbours along the channels.
#include <algorithm>
#include <cmath>

#include "ops/norm/norm.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "tensor/element.h"

namespace anynpu::ops::norm {

namespace {

Status lrn_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  if (x.rank() < 2 || context.int_attr("size") < 1) {
    return fail(Code::shape_mismatch, "{}: input {} with size {}, expected N, C, ... and 1 or more",
                context.label(), to_string(x.shape), context.int_attr("size"));
  }
  return set_output(context, 0, x.dtype, x.shape);
}

PlanResult plan_lrn(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const int64_t channels = x[1], spatial = element_count(Shape(x.begin() + 2, x.end()));
  const int64_t size = context.int_attr("size"), before = (size - 1) / 2, after = size - 1 - before;
  const auto alpha = static_cast<double>(context.float_attr("alpha"));
  const auto beta = static_cast<double>(context.float_attr("beta"));
  const auto bias = static_cast<double>(context.float_attr("bias"));
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    plan = make_plan([=, batch = x[0]](const RunArgs& args) {
      parallel(static_cast<size_t>(batch * channels), 1, [&](size_t begin, size_t end) {
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const int64_t c = i % channels, first = i - c;
          const int64_t low = std::max<int64_t>(0, c - std::min(before, c));
          const int64_t high = after >= channels - 1 - c ? channels - 1 : c + after;
          for (int64_t s = 0; s < spatial; ++s) {
            double sum = 0;
            for (int64_t k = low; k <= high; ++k) {
              const auto v = static_cast<double>(
                  Element<T>::load(input_of<T>(args, 0)[(first + k) * spatial + s]));
              sum += v * v;
            }
            const auto v =
                static_cast<double>(Element<T>::load(input_of<T>(args, 0)[i * spatial + s]));
            output_of<T>(args, 0)[i * spatial + s] = Element<T>::store(
                v / std::pow(bias + alpha / static_cast<double>(size) * sum, beta));
          }
        }
      });
    });
  });
  if (!plan) return no_kernel_for(context);
  return plan;
}

}  // namespace

void register_lrn(Registry& registry) {
  registry.add(OpSchema{.name = "LRN",
                        .since = 1,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {{"alpha", AttrKind::f, 0.0001f},
                                  {"beta", AttrKind::f, 0.75f},
                                  {"bias", AttrKind::f, 1.0f},
                                  {"size", AttrKind::i, {}, true}},
                        .traits = OpTraits::general(),
                        .shape = lrn_rule});
  registry.add(KernelDef{
      .op = "LRN", .name = "lrn_reference", .types = kFloats, .create = create_plain<plan_lrn>});
}

}  // namespace anynpu::ops::norm
