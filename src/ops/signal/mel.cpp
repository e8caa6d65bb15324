// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix: triangles on the mel scale over the bins of a spectrum.
#include <algorithm>
#include <cmath>

#include "ops/elements/cast_attributes.h"
#include "ops/elements/wide.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/signal/signal.h"

namespace anynpu::ops::signal {

namespace {

int64_t whole(const OpContext& context, size_t i) {
  return load_one<int64_t>(context.inputs[i].dtype, context.inputs[i].constant.data());
}
double real(const OpContext& context, size_t i) {
  return load_one<double>(context.inputs[i].dtype, context.inputs[i].constant.data());
}

Status mel_rule(OpContext& context) {
  ANYNPU_ASSIGN(const DType type, dtype_of_onnx(context, context.int_attr("output_datatype")));
  context.outputs[0].dtype = type;
  if (!parameters_known(context, 0b11111)) return {};
  for (const Operand& input : context.inputs) {
    if (element_count(input.shape) != 1)
      return fail(Code::shape_mismatch, "{}: an input is no scalar", context.label());
  }
  const int64_t bins = whole(context, 0), length = whole(context, 1);
  if (bins < 0 || length < 1 || bins > (1 << 24) || length > (1 << 24)) {
    return fail(Code::invalid_argument, "{}: {} mel bins of a DFT of {}", context.label(), bins,
                length);
  }
  return set_output(context, 0, type, {length / 2 + 1, bins});
}

constexpr double kMostEdge = 1e15;

double to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

PlanResult plan_mel(const OpContext& context) {
  const int64_t bins = whole(context, 0), length = whole(context, 1), rate = whole(context, 2);
  const double low = to_mel(real(context, 3)), high = to_mel(real(context, 4));
  const int64_t rows = context.outputs[0].shape[0];
  std::vector<double> weights(static_cast<size_t>(rows * bins), 0.0);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double mel =
        low + static_cast<double>(i) * ((high - low) / static_cast<double>(bins + 2));
    const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    const double edge =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(std::abs(edge) < kMostEdge)) {
      return fail(Code::invalid_argument,
                  "{}: edge {} of its filters is bin {} of a DFT of {} at a rate of {}; check the "
                  "frequencies and the sample rate",
                  context.label(), i, edge, length, rate);
    }
    edges.push_back(static_cast<int64_t>(edge));
  }
  // Rows from `begin` to before `end`, as far as there are any.
  const auto put = [&](int64_t begin, int64_t end, int64_t column, auto value) {
    for (int64_t j = std::max<int64_t>(begin, 0); j < std::min(end, rows); ++j)
      weights[static_cast<size_t>(j * bins + column)] = value(j);
  };
  for (int64_t i = 0; i < bins; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t from = edges[at], top = edges[at + 1], to = edges[at + 2];
    if (top == from) put(top, top + 1, i, [](int64_t) { return 1.0; });
    if (top != from) {
      put(from, top + 1, i, [&](int64_t j) {
        return static_cast<double>(j - from) / static_cast<double>(top - from);
      });
    }
    if (to != top) {
      put(top, to, i,
          [&](int64_t j) { return static_cast<double>(to - j) / static_cast<double>(to - top); });
    }
  }
  const auto store = store_block<double>(context.outputs[0].dtype);
  if (!store) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    store(args.outputs[0], 0, weights.data(), static_cast<int64_t>(weights.size()));
  });
}

}  // namespace

void register_mel(Registry& registry) {
  constexpr DTypeSet kWhole{DType::i32, DType::i64};
  registry.add(OpSchema{.name = "MelWeightMatrix",
                        .since = 17,
                        .inputs = {{"num_mel_bins", "I"},
                                   {"dft_length", "I"},
                                   {"sample_rate", "I"},
                                   {"lower_edge_hertz", "F"},
                                   {"upper_edge_hertz", "F"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"I", kWhole}, {"F", kFloats}},
                        .attrs = {{"output_datatype", AttrKind::i, int64_t{1}}},
                        .traits = OpTraits::general().with(SizedBy::parameters),
                        .shape = mel_rule});
  registry.add(KernelDef{.op = "MelWeightMatrix",
                         .name = "reference",
                         .types = kWhole,
                         .create = create_with_runtime_params<plan_mel, 0b11111>});
}

}  // namespace anynpu::ops::signal
