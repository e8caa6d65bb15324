// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/quantized.h"

#include <vector>

#include "ops/conv/blocked.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/simd/tile_int8.h"

namespace anynpu::ops::conv {

namespace {

Status quantized_conv_rule(OpContext& context) {
  context.outputs[0].dtype = quantize::quantized_type(context);
  if (!context.inputs[0].has_shape || !context.inputs[1].has_shape) return {};
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  ANYNPU_TRY(quantize::Requantize::of(context, c.out_channels).status());
  Shape shape = {c.batch, c.out_channels};
  shape.insert(shape.end(), c.window.out.begin(), c.window.out.end());
  return quantize::set_quantized_output(context, std::move(shape));
}

class QuantizedConv final : public Kernel {
 public:
  QuantizedConv(const BlockedWeights& weights, quantize::Requantize requantize)
      : weights_(weights), requantize_(std::move(requantize)) {}

  size_t packed_bytes() const override { return weights_.bytes(); }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    ANYNPU_ASSIGN(const QuantizedConvCase c, QuantizedConvCase::of(context));
    const auto bytes = context.inputs[1].constant;
    std::vector<float> wide(bytes.size());
    for (size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<float>(c.weights[i]);
    weights_.pack(wide.data(), c.bias, packed.data());
    // Channels are stored group by group, each filled up to whole blocks.
    for (int64_t g = 0; g < weights_.group; ++g) {
      const int64_t first = g * weights_.out_channels, to = g * weights_.out_blocks() * 16;
      float* scales = reinterpret_cast<float*>(packed.data() + weights_.scale_start());
      float* added = reinterpret_cast<float*>(packed.data() + weights_.bias_start());
      auto* sums = reinterpret_cast<int32_t*>(packed.data() + weights_.sum_start());
      for (int64_t o = 0; o < weights_.out_blocks() * 16; ++o) {
        const bool real = o < weights_.out_channels;
        scales[to + o] = real ? requantize_.factor(first + o) : 0;
        added[to + o] = real && c.bias ? requantize_.added(c.bias[first + o]) : 0;
        sums[to + o] = real ? c.start(first + o) : 0;
      }
    }
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    return plan_quantized_conv(context, weights_, requantize_);
  }

 private:
  BlockedWeights weights_;
  quantize::Requantize requantize_;
};

}  // namespace

Result<QuantizedConvCase> QuantizedConvCase::of(const OpContext& context) {
  QuantizedConvCase c;
  ANYNPU_ASSIGN(c.shape, conv_shape_of(context));
  ANYNPU_ASSIGN(c.requantize, quantize::Requantize::of(context, c.shape.out_channels));
  c.weights = reinterpret_cast<const int8_t*>(context.inputs[1].constant.data());
  if (context.has_input(2))
    c.bias = reinterpret_cast<const float*>(context.inputs[2].constant.data());
  return c;
}

int32_t QuantizedConvCase::start(int64_t o) const {
  const int64_t count = group_in() * taps();
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += weights[o * count + i];
  return static_cast<int32_t>(-requantize.x_zero * sum);
}

Status can_run_quantized_conv(const OpContext& context) {
  ANYNPU_TRY(check_vnni());
  ANYNPU_TRY(context.check_constants(1, 2, "weight or bias"));
  ANYNPU_ASSIGN(const BlockedWeights weights, blocked_weights_of(context, kQuantBlocks));
  if (weights.merged > 4) {
    return fail(Code::unsupported_shape, "{} groups would be computed as one", weights.merged);
  }
  return {};
}

Result<std::unique_ptr<Kernel>> create_quantized_conv(const OpContext& context) {
  ANYNPU_ASSIGN(BlockedWeights weights, blocked_weights_of(context, kQuantBlocks));
  weights.kind = BlockedKind::bytes;
  ANYNPU_ASSIGN(auto requantize,
                quantize::Requantize::of(context, weights.group * weights.out_channels));
  return std::unique_ptr<Kernel>(std::make_unique<QuantizedConv>(weights, std::move(requantize)));
}

PlanResult plan_quantized_conv_reference(const OpContext& context) {
  ANYNPU_TRY(context.check_constants(1, 2, "weight or bias"));
  ANYNPU_ASSIGN(QuantizedConvCase c, QuantizedConvCase::of(context));
  const bool residual = context.has_input(3);
  std::vector<float> bias;
  if (c.bias) bias.assign(c.bias, c.bias + c.shape.out_channels);
  return make_plan([c, residual, bias](const RunArgs& args) {
    const Window& window = c.shape.window;
    const int64_t channels = c.shape.out_channels, out = element_count(window.out);
    const int64_t in = element_count(window.in), taps = c.taps(), inner = c.group_in();
    const QuantEpilogue epilogue = c.requantize.epilogue();
    const auto* w = input_of<int8_t>(args, 1);
    parallel(static_cast<size_t>(c.shape.batch * channels), 1, [&](size_t begin, size_t end) {
      for (auto plane = static_cast<int64_t>(begin); plane < static_cast<int64_t>(end); ++plane) {
        const int64_t o = plane % channels, group = o / (channels / c.shape.group);
        const uint8_t* x = input_of<uint8_t>(args, 0) +
                           (plane / channels * c.shape.in_channels + group * inner) * in;
        const float added = bias.empty() ? 0 : c.requantize.added(bias[static_cast<size_t>(o)]);
        for (int64_t at = 0; at < out; ++at) {
          int64_t sum = 0;
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t offset = window.tap_offset(at, tap);
            for (int64_t i = 0; offset >= 0 && i < inner; ++i) {
              sum += (x[i * in + offset] - c.requantize.x_zero) *
                     int64_t{w[(o * inner + i) * taps + tap]};
            }
          }
          quantize::store_quantized(epilogue, static_cast<int32_t>(sum), c.requantize.factor(o),
                                    added, residual ? input_of<uint8_t>(args, 3) : nullptr,
                                    args.outputs[0], plane * out + at);
        }
      }
    });
  });
}

void add_quantized_conv_schema(Registry& registry) {
  registry.add(quantize::quantized_schema(
      "QuantizedConv", {"X", "W", "B"},
      {{"auto_pad", AttrKind::s, "NOTSET"},
       {"dilations", AttrKind::ints},
       {"group", AttrKind::i, int64_t{1}},
       {"kernel_shape", AttrKind::ints},
       {"pads", AttrKind::ints},
       {"strides", AttrKind::ints}},
      OpTraits::general().with(CostClass::convolution).with(BlockedInput::yes),
      quantized_conv_rule));
}

}  // namespace anynpu::ops::conv
