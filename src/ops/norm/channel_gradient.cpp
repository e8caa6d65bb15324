// SPDX-License-Identifier: Apache-2.0
// ChannelGradSums (domain anynpu): what the gradient of a batch normalisation sums over a channel,
//   total[c] = sum of dy, product[c] = sum of dy * (x - mean[c])
// in one pass over both tensors.
#include <algorithm>

#include "ops/norm/norm.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/simd/products.h"
#include "ops/simd/rows.h"

namespace anynpu::ops::norm {

namespace {

constexpr int64_t kPiece = 1024;  // elements that are centred at a time

Status grad_sums_rule(OpContext& context) {
  const Operand &dy = context.inputs[0], &x = context.inputs[1], &mean = context.inputs[2];
  if (!dy.fully_known() || !x.fully_known() || !mean.fully_known()) return {};
  if (dy.shape != x.shape || x.rank() < 2 || mean.shape != Shape{x.shape[1]}) {
    return fail(Code::shape_mismatch,
                "{}: dY is {}, X {} and the means {}; expected two tensors of one shape and a mean "
                "for each channel",
                context.label(), to_string(dy.shape), to_string(x.shape), to_string(mean.shape));
  }
  for (size_t i = 0; i < 2; ++i) ANYNPU_TRY(set_output(context, i, DType::f32, {x.shape[1]}));
  return {};
}

// Calls visit(first element, count) for the pieces of a channel.
template <typename Visit>
void each_piece(const Shape& shape, int64_t channel, const Visit& visit) {
  const int64_t inner = element_count({shape.begin() + 2, shape.end()});
  for (int64_t n = 0; n < shape[0]; ++n) {
    const int64_t begin = (n * shape[1] + channel) * inner;
    for (int64_t at = 0; at < inner; at += kPiece) visit(begin + at, std::min(kPiece, inner - at));
  }
}

template <typename Sums>
std::unique_ptr<KernelPlan> plan_channels_of(const Shape& shape, const Sums& sums) {
  const int64_t each = element_count(shape) / std::max<int64_t>(shape[1], 1);
  const auto least = static_cast<size_t>(1 + 4096 / (each + 1));
  return make_plan([=](const RunArgs& args) {
    const float *dy = input_of<float>(args, 0), *x = input_of<float>(args, 1);
    parallel(static_cast<size_t>(shape[1]), least, [&](size_t begin, size_t end) {
      for (auto c = static_cast<int64_t>(begin); c < static_cast<int64_t>(end); ++c) {
        double total = 0, product = 0;
        each_piece(shape, c, [&](int64_t at, int64_t count) {
          sums(dy + at, x + at, input_of<float>(args, 2)[c], count, total, product);
        });
        if (args.outputs[0]) output_of<float>(args, 0)[c] = static_cast<float>(total);
        if (args.outputs[1]) output_of<float>(args, 1)[c] = static_cast<float>(product);
      }
    });
  });
}

template <Isa isa>
Status can_run_grad_sums(const OpContext& context) {
  return check_isa(isa);
}

template <Isa isa>
PlanResult plan_grad_sums(const OpContext& context) {
  return plan_channels_of(context.inputs[1].shape,
                          [](const float* dy, const float* x, float mean, int64_t count,
                             double& total, double& product) {
                            float centred[kPiece], sum = 0;
                            row_set(isa).affine(x, mean, 1, 0, centred, count);
                            product_set(isa).dots(centred, count, 1, dy, count, &sum);
                            total += row_set(isa).sum(dy, count);
                            product += static_cast<double>(sum);
                          });
}

PlanResult plan_reference(const OpContext& context) {
  return plan_channels_of(
      context.inputs[1].shape, [](const float* dy, const float* x, float mean, int64_t count,
                                  double& total, double& product) {
        for (int64_t i = 0; i < count; ++i) {
          const auto slope = static_cast<double>(dy[i]);
          total += slope;
          product += slope * (static_cast<double>(x[i]) - static_cast<double>(mean));
        }
      });
}

constexpr DTypeSet kFloat32{DType::f32};
const KernelLine kGradSums[] = {
    {"rows_avx512", kFloat32, can_run_grad_sums<Isa::avx512>,
     create_plain<plan_grad_sums<Isa::avx512>>},
    {"rows_avx2", kFloat32, can_run_grad_sums<Isa::avx2>, create_plain<plan_grad_sums<Isa::avx2>>},
    {"reference", kFloat32, nullptr, create_plain<plan_reference>},
};

}  // namespace

void register_channel_gradient(Registry& registry) {
  registry.add(OpSchema{.name = "ChannelGradSums",
                        .domain = "anynpu",
                        .inputs = {{"dY", "T"}, {"X", "T"}, {"mean", "T"}},
                        .outputs = {{"total", "T"}, {"product", "T"}},
                        .types = {{"T", kFloat32}},
                        .traits = OpTraits::linear(),
                        .shape = grad_sums_rule});
  registry.add_kernels("ChannelGradSums", kGradSums, "anynpu");
}

}  // namespace anynpu::ops::norm
