// SPDX-License-Identifier: Apache-2.0
// Normalisations by the moments of channels, f32 by vector instructions (simd/rows.h):
// InstanceNormalization, GroupNormalization, MeanVarianceNormalization, and BatchNormalization by
// the statistics of the run.
#include <algorithm>
#include <cmath>

#include "ops/data_movement/axes.h"
#include "ops/norm/norm.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/simd/rows.h"
#include "ops/widen.h"

namespace anynpu::ops::norm {

namespace {

// Moments are those of `outer` runs of `inner` elements; run o of channel c begins at element
// (o * channels + c) * inner.
struct Channels {
  int64_t outer = 1, channels = 1, inner = 1;
};

// Elements are centred around `middle`, a float near the mean; what it lacks is in `rest`.
struct Moments {
  double mean = 0, variance = 0, rest = 0;
  float middle = 0;
};

template <typename F>
void each_run(const Channels& c, int64_t channel, const F& f) {
  for (int64_t o = 0; o < c.outer; ++o) f((o * c.channels + channel) * c.inner);
}

Moments moments_of(const RowSet& rows, const Channels& c, int64_t channel, const float* x) {
  const auto count = static_cast<double>(c.outer * c.inner);
  Moments m;
  double sum = 0, squares = 0;
  each_run(c, channel, [&](int64_t at) { sum += rows.sum(x + at, c.inner); });
  m.middle = static_cast<float>(sum / count);
  sum = 0;
  each_run(c, channel,
           [&](int64_t at) { rows.deviations(x + at, m.middle, c.inner, sum, squares); });
  m.rest = sum / count;
  m.mean = static_cast<double>(m.middle) + m.rest;
  const double variance = squares / count - m.rest * m.rest;
  m.variance = variance < 0 ? 0 : variance;
  return m;
}

// y = (x - mean) * factor + shift, for a run of elements.
void normalise(const RowSet& rows, const Moments& m, double factor, double shift, const float* x,
               float* y, int64_t count) {
  rows.affine(x, m.middle, static_cast<float>(factor), static_cast<float>(shift - m.rest * factor),
              y, count);
}

size_t least_channels(const Channels& c) {
  return static_cast<size_t>(1 + 4096 / (c.outer * c.inner + 1));
}

Status check_floats(const OpContext& context) {
  for (const Operand& input : context.inputs) {
    if (input.present && input.dtype != DType::f32) {
      return fail(Code::unsupported_dtype, "a parameter is {}, takes float32",
                  name_of(input.dtype));
    }
  }
  return {};
}

template <Isa isa>
Status can_run_groups(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  return check_floats(context);
}

template <Isa isa>
PlanResult plan_groups(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const bool grouped = context.schema->name == "GroupNormalization";
  const int64_t groups = grouped ? context.int_attr("num_groups") : x[1];
  const int64_t spatial = element_count(Shape(x.begin() + 2, x.end()));
  const int64_t members = groups == 0 ? 0 : x[1] / groups;  // channels of a group
  const bool one_scale = grouped && context.schema->since < 21;
  const Channels c{1, x[0] * groups, members * spatial};
  const auto epsilon = static_cast<double>(context.float_attr("epsilon"));
  const RowSet& rows = row_set(isa);
  auto plan = make_plan([=, &rows](const RunArgs& args) {
    if (c.inner == 0) return;
    const float *in = input_of<float>(args, 0), *scale = input_of<float>(args, 1),
                *bias = input_of<float>(args, 2);
    parallel(static_cast<size_t>(c.channels), least_channels(c), [&](size_t begin, size_t end) {
      for (auto g = static_cast<int64_t>(begin); g < static_cast<int64_t>(end); ++g) {
        const Moments m = moments_of(rows, c, g, in);
        const double inverse = 1 / std::sqrt(m.variance + epsilon);
        for (int64_t i = 0; i < members; ++i) {
          const int64_t p = one_scale ? g % groups : g % groups * members + i;
          const int64_t at = g * c.inner + i * spatial;
          normalise(rows, m, inverse * static_cast<double>(scale[p]), static_cast<double>(bias[p]),
                    in + at, output_of<float>(args, 0) + at, spatial);
        }
      }
    });
  });
  plan->in_place_input = 0;
  return plan;
}

// The channels of MeanVarianceNormalization; inner is 0 where its axes do not end in runs, or have
// kept ones on more than one side.
Result<Channels> kept_channels(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  std::vector<bool> reduced(x.size(), false);
  for (int64_t raw : context.ints_attr("axes")) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, raw, context.inputs[0].rank()));
    reduced[static_cast<size_t>(axis)] = true;
  }
  Channels c;
  size_t d = 0;
  const auto take = [&](bool want, int64_t& extent) {
    for (; d < x.size() && (x[d] == 1 || reduced[d] == want); ++d) extent *= x[d];
  };
  take(true, c.outer);
  take(false, c.channels);
  take(true, c.inner);
  if (d < x.size()) c.inner = 0;
  return c;
}

template <Isa isa>
Status can_run_mvn(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const Channels c, kept_channels(context));
  if (c.inner < 16) return fail(Code::unsupported_shape, "runs of less than 16 elements");
  return {};
}

template <Isa isa>
PlanResult plan_mvn(const OpContext& context) {
  ANYNPU_ASSIGN(const Channels c, kept_channels(context));
  const RowSet& rows = row_set(isa);
  auto plan = make_plan([=, &rows](const RunArgs& args) {
    const float* in = input_of<float>(args, 0);
    float* out = output_of<float>(args, 0);
    parallel(static_cast<size_t>(c.channels), least_channels(c), [&](size_t begin, size_t end) {
      for (auto k = static_cast<int64_t>(begin); k < static_cast<int64_t>(end); ++k) {
        const Moments m = moments_of(rows, c, k, in);
        const double factor = 1 / (std::sqrt(m.variance) + 1e-9);
        each_run(c, k,
                 [&](int64_t at) { normalise(rows, m, factor, 0, in + at, out + at, c.inner); });
      }
    });
  });
  plan->in_place_input = 0;
  return plan;
}

template <Isa isa>
Status can_run_training(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  if (context.int_attr("training_mode") == 0)
    return fail(Code::unsupported_feature, "the moments are given");
  if (context.inputs[0].rank() < 3)
    return fail(Code::unsupported_shape, "shape {}", to_string(context.inputs[0].shape));
  return check_floats(context);
}

template <Isa isa>
PlanResult plan_training(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const Channels c{x[0], x[1], element_count(Shape(x.begin() + 2, x.end()))};
  const double epsilon = context.float_attr("epsilon"), momentum = context.float_attr("momentum");
  const RowSet& rows = row_set(isa);
  return make_plan([=, &rows](const RunArgs& args) {
    const float* in = input_of<float>(args, 0);
    parallel(static_cast<size_t>(c.channels), least_channels(c), [&](size_t begin, size_t end) {
      for (auto k = static_cast<int64_t>(begin); k < static_cast<int64_t>(end); ++k) {
        const auto parameter = [&](size_t i) {
          return static_cast<double>(input_of<float>(args, i)[k]);
        };
        const Moments m = moments_of(rows, c, k, in);
        const double factor = parameter(1) / std::sqrt(m.variance + epsilon);
        each_run(c, k, [&](int64_t at) {
          normalise(rows, m, factor, parameter(2), in + at, output_of<float>(args, 0) + at,
                    c.inner);
        });
        for (size_t i = 1; i < args.outputs.size() && i < 3; ++i) {
          if (!args.outputs[i]) continue;
          const double running =
              parameter(i + 2) * momentum + (i == 1 ? m.mean : m.variance) * (1 - momentum);
          output_of<float>(args, i)[k] = static_cast<float>(running);
        }
      }
    });
  });
}

// Both instruction sets, then short floats through them.
template <auto can_run_avx512, auto plan_avx512, auto can_run_avx2, auto plan_avx2>
std::vector<KernelLine> lines() {
  return {{"norm_avx512", {DType::f32}, can_run_avx512, create_plain<plan_avx512>},
          {"norm_avx2", {DType::f32}, can_run_avx2, create_plain<plan_avx2>},
          {"widened", kShortFloats, can_run_widened, create_widened}};
}

}  // namespace

std::vector<KernelLine> channel_row_kernels(std::string_view op) {
  constexpr Isa wide = Isa::avx512, narrow = Isa::avx2;
  if (op == "InstanceNormalization" || op == "GroupNormalization")
    return lines<can_run_groups<wide>, plan_groups<wide>, can_run_groups<narrow>,
                 plan_groups<narrow>>();
  if (op == "MeanVarianceNormalization")
    return lines<can_run_mvn<wide>, plan_mvn<wide>, can_run_mvn<narrow>, plan_mvn<narrow>>();
  if (op == "BatchNormalization")
    return lines<can_run_training<wide>, plan_training<wide>, can_run_training<narrow>,
                 plan_training<narrow>>();
  return {};
}

}  // namespace anynpu::ops::norm
