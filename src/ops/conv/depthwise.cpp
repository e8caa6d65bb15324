// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over blocked channels: f32, one filter per channel, one or two spatial
// dimensions, weights and bias constant. Bound by memory, so pads are skipped, not copied.
#include <algorithm>
#include <cstring>

#include "ops/conv/conv.h"
#include "ops/cpu/lanes.h"
#include "ops/layout.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

namespace {

class DepthwiseConv final : public Kernel {
 public:
  DepthwiseConv(int64_t channels, int64_t taps, const LaneSet& lanes)
      : channels_(channels),
        blocks_((channels + kBlock - 1) / kBlock),
        taps_(taps),
        lanes_(lanes) {}

  // [block][tap][16] weights, then [block][16] biases.
  size_t packed_bytes() const override {
    return static_cast<size_t>(blocks_ * (taps_ + 1) * kBlock) * sizeof(float);
  }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    float* out = reinterpret_cast<float*>(packed.data());
    std::memset(out, 0, packed.size());
    const auto* weight = reinterpret_cast<const float*>(context.inputs[1].constant.data());
    for (int64_t c = 0; c < channels_; ++c) {
      for (int64_t tap = 0; tap < taps_; ++tap) {
        out[(c / kBlock * taps_ + tap) * kBlock + c % kBlock] = weight[c * taps_ + tap];
      }
    }
    if (context.has_input(2)) {
      std::memcpy(out + blocks_ * taps_ * kBlock, context.inputs[2].constant.data(),
                  static_cast<size_t>(channels_) * sizeof(float));
    }
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
    ANYNPU_ASSIGN(const Activation activation, activation_of(context));
    const Window& w = c.window;
    const size_t across = w.dims() - 1;
    const bool flat = w.dims() == 1;
    LaneRow r;
    r.in_h = flat ? 1 : w.in[0], r.in_w = w.in[across], r.out_w = w.out[across];
    r.x = -w.pad_begin[across];
    r.kernel_h = flat ? 1 : w.kernel[0], r.kernel_w = w.kernel[across];
    r.stride_w = w.stride[across];
    r.dilation_h = flat ? 1 : w.dilation[0], r.dilation_w = w.dilation[across];
    r.clamp = activation.on, r.min = activation.min, r.max = activation.max;
    const int64_t out_h = flat ? 1 : w.out[0], stride_h = flat ? 1 : w.stride[0];
    const int64_t pad_top = flat ? 0 : w.pad_begin[0];
    const int64_t blocks = blocks_, taps = taps_, batch = c.batch;
    const auto depthwise_row = lanes_.depthwise_row;
    auto plan = make_plan([=](const RunArgs& args) {
      const float* packed = reinterpret_cast<const float*>(args.packed);
      const float* residual = args.inputs.size() > 3 ? input_of<float>(args, 3) : nullptr;
      const auto least =
          static_cast<size_t>(std::max<int64_t>(1, 2048 / std::max<int64_t>(1, r.out_w * taps)));
      parallel(static_cast<size_t>(batch * blocks * out_h), least, [&](size_t begin, size_t end) {
        LaneRow row = r;
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const int64_t image_block = i / out_h, block = image_block % blocks;
          row.in = input_of<float>(args, 0) + image_block * r.in_h * r.in_w * kBlock;
          row.out = output_of<float>(args, 0) + i * r.out_w * kBlock;
          row.residual = residual ? residual + i * r.out_w * kBlock : nullptr;
          row.weights = packed + block * taps * kBlock;
          row.bias = packed + (blocks * taps + block) * kBlock;
          row.y = i % out_h * stride_h - pad_top;
          depthwise_row(row);
        }
      });
    });
    plan->input_layouts = {Layout::blocked16, Layout::plain, Layout::plain, Layout::blocked16};
    plan->output_layouts = {Layout::blocked16};
    plan->in_place_input = context.has_input(3) ? 3 : -1;
    return plan;
  }

 private:
  int64_t channels_, blocks_, taps_;
  const LaneSet& lanes_;
};

}  // namespace

template <Isa isa>
Status can_run_depthwise_conv(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  if (c.group != c.in_channels || c.out_channels != c.in_channels) {
    return fail(Code::unsupported_shape, "{} groups for {} channels, takes one filter per channel",
                c.group, c.in_channels);
  }
  if (c.window.dims() > 2) {
    return fail(Code::unsupported_shape, "{} spatial dimensions, takes 1 or 2", c.window.dims());
  }
  if (!context.inputs[1].is_constant || (context.has_input(2) && !context.inputs[2].is_constant)) {
    return fail(Code::unsupported_feature, "weight or bias is no constant");
  }
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_depthwise_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  return std::unique_ptr<Kernel>(std::make_unique<DepthwiseConv>(
      c.out_channels, element_count(c.window.kernel), lane_set(isa)));
}

template Status can_run_depthwise_conv<Isa::avx512>(const OpContext&);
template Status can_run_depthwise_conv<Isa::avx2>(const OpContext&);
template Status can_run_depthwise_conv<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_depthwise_conv<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_depthwise_conv<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_depthwise_conv<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops
