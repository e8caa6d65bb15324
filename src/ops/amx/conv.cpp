// SPDX-License-Identifier: Apache-2.0
// Convolution as one product: a row for each output pixel of the batch, a column for each output
// channel, k = (block of 16 input channels, kernel row, kernel column, channel of the block).
// A row is gathered from blocked input while its task packs it: 32 bytes for each (block, tap).
#include "ops/conv/conv.h"

#include <cstring>

#include "ops/amx/amx.h"
#include "ops/amx/product.h"
#include "ops/layout.h"
#include "ops/plain_kernel.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::amx {

namespace {

constexpr int64_t kUnit = 16;  // channels of a block

struct AmxConvPlan final : KernelPlan {
  Product product;
  Activation activation;
  int64_t in_blocks = 0, in_h = 0, in_w = 0, out_h = 0, out_w = 0, out_blocks = 0;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
  size_t bias_start = 0;  // in the packed bytes

  Status run(const RunArgs& args) const override {
    if (product.m == 0) return {};
    run_tasks(product.tasks(), args.workspace, product.scratch_bytes(),
              [&](int64_t task, std::byte* scratch) { multiply(args, task, scratch); });
    return {};
  }

 private:
  struct Pixel {
    const BF16* image = nullptr;
    int64_t y = 0, x = 0;  // of the first tap in the input
  };

  void gather(const Pixel& pixel, int64_t row, int64_t k, int64_t count, BF16* packed) const {
    for (int64_t j = 0; j < count; j += kUnit) {
      const int64_t unit = (k + j) / kUnit, column = unit % kernel_w;
      const int64_t line = unit / kernel_w % kernel_h, block = unit / (kernel_w * kernel_h);
      const int64_t y = pixel.y + line * dilation_h, x = pixel.x + column * dilation_w;
      if (y < 0 || y >= in_h || x < 0 || x >= in_w) continue;  // what is packed begins as zeros
      std::memcpy(packed + left_offset(row, j),
                  pixel.image + ((block * in_h + y) * in_w + x) * kUnit, kUnit * sizeof(BF16));
    }
  }

  void multiply(const RunArgs& args, int64_t task, std::byte* scratch) const {
    const int64_t plane = out_h * out_w;
    const auto pack = [&](int64_t first, int64_t rows, int64_t k, int64_t count, BF16* packed) {
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t row = first + i, at = row % plane;
        const Pixel pixel{input_of<BF16>(args, 0) + row / plane * in_blocks * in_h * in_w * kUnit,
                          at / out_w * stride_h - pad_top, at % out_w * stride_w - pad_left};
        gather(pixel, i, k, count, packed);
      }
    };
    const bool added = args.inputs.size() > 3 && args.inputs[3];
    Finish finish;
    finish.clamp = activation.on;
    finish.min = activation.min;
    finish.max = activation.max;
    const float* bias = reinterpret_cast<const float*>(args.packed + bias_start);
    product.run(task, reinterpret_cast<const BF16*>(args.packed), scratch, pack,
                [&](int64_t row, int64_t column, const float* sums) {
                  const int64_t block = row / plane * out_blocks + column / kUnit;
                  const int64_t place = (block * plane + row % plane) * kUnit;
                  finish.bias = bias + column;
                  finish.out = output_of<BF16>(args, 0) + place;
                  finish.residual = added ? input_of<BF16>(args, 3) + place : nullptr;
                  product.engine->finish(finish, sums);
                });
  }
};

class AmxConv final : public Kernel {
 public:
  AmxConv(const Engine& engine, const ConvShape& c)
      : engine_(engine),
        channels_(c.in_channels),
        taps_(element_count(c.window.kernel)),
        right_{(c.in_channels + kUnit - 1) / kUnit * taps_ * kUnit, c.out_channels} {}

  size_t packed_bytes() const override {
    return bias_start() + static_cast<size_t>(right_.panels() * kPanel) * sizeof(float);
  }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    const BF16* weight = reinterpret_cast<const BF16*>(context.inputs[1].constant.data());
    parallel_tasks(static_cast<size_t>(right_.panels()), [&](size_t panel) {
      right_.pack_panel(
          static_cast<int64_t>(panel),
          [&](int64_t k, int64_t o) {
            const int64_t c = k / kUnit / taps_ * kUnit + k % kUnit, tap = k / kUnit % taps_;
            return c < channels_ ? weight[(o * channels_ + c) * taps_ + tap] : BF16{};
          },
          reinterpret_cast<BF16*>(packed.data()));
    });
    std::byte* bias = packed.data() + bias_start();
    std::memset(bias, 0, static_cast<size_t>(right_.panels() * kPanel) * sizeof(float));
    if (context.has_input(2)) {
      widen(DType::bf16, context.inputs[2].constant.data(), reinterpret_cast<float*>(bias),
            static_cast<size_t>(right_.n));
    }
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
    auto plan = std::make_unique<AmxConvPlan>();
    ANYNPU_ASSIGN(plan->activation, activation_of(context));
    const Window& w = c.window;
    const size_t across = w.dims() - 1;
    const bool flat = w.dims() == 1;
    plan->in_blocks = (c.in_channels + kUnit - 1) / kUnit;
    plan->out_blocks = (c.out_channels + kUnit - 1) / kUnit;
    plan->in_h = flat ? 1 : w.in[0], plan->in_w = w.in[across];
    plan->out_h = flat ? 1 : w.out[0], plan->out_w = w.out[across];
    plan->kernel_h = flat ? 1 : w.kernel[0], plan->kernel_w = w.kernel[across];
    plan->stride_h = flat ? 1 : w.stride[0], plan->stride_w = w.stride[across];
    plan->dilation_h = flat ? 1 : w.dilation[0], plan->dilation_w = w.dilation[across];
    plan->pad_top = flat ? 0 : w.pad_begin[0], plan->pad_left = w.pad_begin[across];
    plan->bias_start = bias_start();
    const int64_t pixels =
        element_count(context.outputs[0].shape) == 0 ? 0 : c.batch * plan->out_h * plan->out_w;
    const auto threads = static_cast<int64_t>(ThreadPool::instance().threads());
    plan->product = Product::cut(engine_, right_, pixels, 1, threads);
    plan->workspace_bytes = static_cast<size_t>(threads * plan->product.scratch_bytes());
    plan->input_layouts = {Layout::blocked16, Layout::plain, Layout::plain, Layout::blocked16};
    plan->output_layouts = {Layout::blocked16};
    plan->in_place_input = context.has_input(3) ? 3 : -1;
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  size_t bias_start() const { return static_cast<size_t>(right_.elements()) * sizeof(BF16); }

  const Engine& engine_;
  int64_t channels_, taps_;
  RightSide right_;
};

}  // namespace

Status check_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  if (c.window.dims() > 2) {
    return fail(Code::unsupported_shape, "{} spatial dimensions, takes 1 or 2", c.window.dims());
  }
  if (c.group != 1) return fail(Code::unsupported_shape, "{} groups, takes one", c.group);
  if (c.in_channels <= 8) {
    return fail(Code::unsupported_shape, "{} input channels leave most of a tile empty",
                c.in_channels);
  }
  if (!context.inputs[1].is_constant || (context.has_input(2) && !context.inputs[2].is_constant)) {
    return fail(Code::unsupported_feature, "weight or bias is no constant");
  }
  return {};
}

Status can_run_conv(const OpContext& context) {
  ANYNPU_TRY(check_amx());
  return check_conv(context);
}

template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  return std::unique_ptr<Kernel>(std::make_unique<AmxConv>(engine(), c));
}

template Result<std::unique_ptr<Kernel>> create_conv<amx_engine>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_conv<software_engine>(const OpContext&);

}  // namespace anynpu::ops::amx
