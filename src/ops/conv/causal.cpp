// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState: one filter per channel over the present and past positions, of which the
// last k - 1 are passed from call to call.
#include <algorithm>
#include <cmath>

#include "ops/conv/conv.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::conv {

namespace {

constexpr DTypeSet kCausalTypes{DType::f32, DType::f16, DType::bf16};

Status causal_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &w = context.inputs[1], &bias = context.inputs[2],
                &past = context.inputs[3];
  for (Operand& output : context.outputs) output.dtype = x.dtype;
  const std::string activation = context.string_attr("activation");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return fail(Code::invalid_argument, "{}: activation is '{}', expected none, silu or swish",
                context.label(), activation);
  }
  if (!x.has_shape || !w.has_shape) return {};
  bool fits = x.rank() == 3 && w.rank() == 3 && (w.shape[1] == 1 || w.shape[1] == kDynamicDim) &&
              w.shape[2] != 0;
  if (fits && x.fully_known() && w.fully_known()) {
    fits = x.shape[1] == w.shape[0];
    if (bias.fully_known()) fits &= bias.shape == Shape{x.shape[1]};
    if (past.fully_known()) fits &= past.shape == Shape{x.shape[0], x.shape[1], w.shape[2] - 1};
  }
  if (!fits) {
    return fail(Code::shape_mismatch,
                "{}: input {}, weight {}, bias {} and past_state {}; expected batch x channels x "
                "length, channels x 1 x k, channels and batch x channels x k - 1",
                context.label(), to_string(x.shape), to_string(w.shape),
                bias.present ? to_string(bias.shape) : "none",
                past.present ? to_string(past.shape) : "none");
  }
  const int64_t taps = w.shape[2];
  ANYNPU_TRY(set_output(context, 1, x.dtype,
                        {x.shape[0], x.shape[1], taps == kDynamicDim ? taps : taps - 1}));
  return set_output(context, 0, x.dtype, x.shape);
}

// A row of the past k - 1 positions (zeros if there are none) followed by the present ones.
struct History {
  LoadBlock<double> load;
  const std::byte* past;
  const std::byte* now;
  int64_t past_at, past_count, now_at;

  // Positions [from, from + count) of the two together.
  void read(int64_t from, int64_t count, double* to) const {
    const int64_t old = std::clamp<int64_t>(past_count - from, 0, count);
    if (past && old > 0)
      load(past, past_at + from, 1, to, old);
    else
      std::fill_n(to, old, 0.0);
    if (old < count) load(now, now_at + from + old - past_count, 1, to + old, count - old);
  }
};

PlanResult plan_causal(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &w = context.inputs[1].shape;
  const int64_t rows = x[0] * x[1], channels = x[1], length = x[2], taps = w[2];
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.inputs[0].dtype);
  const bool has_bias = context.has_input(2), has_past = context.has_input(3);
  const bool swish = context.string_attr("activation") != "none";
  return make_plan([=](const RunArgs& args) {
    const auto least = static_cast<size_t>(1024 / (length * taps + 1) + 1);
    parallel(static_cast<size_t>(rows), least, [&](size_t begin, size_t end) {
      double sum[kBlockLength], part[kBlockLength];
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        const int64_t channel = row % channels, kept = taps - 1;
        const History history{load,           has_past ? args.inputs[3] : nullptr,
                              args.inputs[0], row * kept,
                              kept,           row * length};
        double bias = 0;
        if (has_bias) load(args.inputs[2], channel, 0, &bias, 1);
        for (int64_t at = 0; at < length; at += kBlockLength) {
          const int64_t n = std::min(kBlockLength, length - at);
          std::fill_n(sum, n, bias);
          for (int64_t tap = 0; tap < taps; ++tap) {
            double weight = 0;
            load(args.inputs[1], channel * taps + tap, 0, &weight, 1);
            history.read(at + tap, n, part);
            for (int64_t i = 0; i < n; ++i) sum[i] += weight * part[i];
          }
          for (int64_t i = 0; swish && i < n; ++i) sum[i] /= 1 + std::exp(-sum[i]);
          store(args.outputs[0], row * length + at, sum, n);
        }
        if (args.outputs.size() < 2 || !args.outputs[1]) continue;
        for (int64_t at = 0; at < kept; at += kBlockLength) {
          const int64_t n = std::min(kBlockLength, kept - at);
          history.read(length + at, n, part);
          store(args.outputs[1], row * kept + at, part, n);
        }
      }
    });
  });
}

}  // namespace

void register_causal_conv(Registry& registry) {
  registry.add(OpSchema{.name = "CausalConvWithState",
                        .since = 27,
                        .inputs = {{"input", "T"},
                                   {"weight", "T"},
                                   {"bias", "T", Presence::optional},
                                   {"past_state", "T", Presence::optional}},
                        .outputs = {{"output", "T"}, {"present_state", "T", Presence::optional}},
                        .types = {{"T", kCausalTypes}},
                        .attrs = {{"activation", AttrKind::s, std::string_view("none")}},
                        .traits = OpTraits::general(),
                        .shape = causal_rule});
  registry.add(KernelDef{.op = "CausalConvWithState",
                         .name = "causal_conv",
                         .types = kCausalTypes,
                         .create = create_plain<plan_causal>});
}

}  // namespace anynpu::ops::conv
