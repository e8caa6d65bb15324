// SPDX-License-Identifier: Apache-2.0
// QuantizedConv with one filter per channel, over blocked channels: tasks of a few output rows of
// one block, whose input is copied with its pads into the first-level cache.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/conv/quantized.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/simd/lanes_quant.h"

namespace anynpu::ops::conv {

namespace {

constexpr int64_t kReadBehind = 64;  // bytes that a load may read behind a row

struct DepthwiseShape {
  int64_t planes = 0, blocks = 0;  // images times blocks, blocks of one
  int64_t in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, top = 0, left = 0;

  explicit DepthwiseShape(const ConvShape& c) {
    const Window& w = c.window;
    const size_t across = w.dims() - 1;
    blocks = ceil_div(c.out_channels, kBlock), planes = c.batch * blocks;
    in_w = w.in[across], out_w = w.out[across], kernel_w = w.kernel[across];
    stride_w = w.stride[across], left = w.pad_begin[across];
    if (across == 0) return;
    in_h = w.in[0], out_h = w.out[0], kernel_h = w.kernel[0], stride_h = w.stride[0];
    top = w.pad_begin[0];
  }
  int64_t taps() const { return kernel_h * kernel_w; }
  int64_t quads() const { return ceil_div(kernel_w, 4); }
  int64_t bands() const { return ceil_div(out_h, kQuantRows); }
  int64_t padded_w() const { return (out_w - 1) * stride_w + kernel_w; }
  int64_t in_rows(int64_t rows) const { return (rows - 1) * stride_h + kernel_h; }
  size_t weight_bytes() const { return static_cast<size_t>(kernel_h * quads() * 64); }  // a block
};

class QuantizedDepthwise final : public Kernel {
 public:
  QuantizedDepthwise(const ConvShape& shape, quantize::Requantize requantize)
      : shape_(shape), requantize_(std::move(requantize)) {}

  // Weights of all blocks, then starts, factors and biases of their channels.
  size_t packed_bytes() const override {
    return static_cast<size_t>(shape_.blocks) * (shape_.weight_bytes() + 3 * 64);
  }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    ANYNPU_ASSIGN(const QuantizedConvCase c, QuantizedConvCase::of(context));
    std::memset(packed.data(), 0, packed.size());
    const Parameters at(shape_, packed.data());
    auto* weights = reinterpret_cast<int8_t*>(packed.data());
    for (int64_t o = 0; o < c.shape.out_channels; ++o) {
      int8_t* block =
          weights + o / kBlock * static_cast<int64_t>(shape_.weight_bytes()) + o % kBlock * 4;
      for (int64_t tap = 0; tap < shape_.taps(); ++tap) {
        const int64_t row = tap / shape_.kernel_w, column = tap % shape_.kernel_w;
        block[(row * shape_.quads() + column / 4) * 64 + column % 4] =
            c.weights[o * shape_.taps() + tap];
      }
      const_cast<int32_t*>(at.start)[o] = c.start(o);
      const_cast<float*>(at.scale)[o] = requantize_.factor(o);
      if (c.bias) const_cast<float*>(at.bias)[o] = requantize_.added(c.bias[o]);
    }
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
    const DepthwiseShape s(c);
    const QuantEpilogue epilogue = requantize_.epilogue();
    const auto pad = static_cast<uint8_t>(requantize_.x_zero);
    const bool residual = context.has_input(3);
    const size_t threads = context.target.threads;
    const int64_t in_row = round_up(s.padded_w() * kBlock, 64);
    auto plan = make_plan_with_scratch([=](const RunArgs& args, const KernelPlan& self) {
      const Parameters at(s, args.packed);
      parallel_slots(
          threads, static_cast<size_t>(s.planes * s.bands()), [&](size_t task, size_t slot) {
            const int64_t plane = static_cast<int64_t>(task) / s.bands(), block = plane % s.blocks;
            const int64_t y = static_cast<int64_t>(task) % s.bands() * kQuantRows;
            const int64_t rows = std::min(kQuantRows, s.out_h - y);
            auto* scratch = reinterpret_cast<uint8_t*>(self.thread_scratch(args, slot));
            copy_rows(s, input_of<uint8_t>(args, 0) + plane * s.in_h * s.in_w * kBlock,
                      y * s.stride_h - s.top, s.in_rows(rows), in_row, pad, scratch);
            const int64_t to = (plane * s.out_h + y) * s.out_w * kBlock;
            QuantLaneRows r;
            r.in = scratch, r.in_row = in_row;
            r.kernel_h = s.kernel_h, r.quads = s.quads();
            r.stride_h = s.stride_h, r.stride_w = s.stride_w;
            r.weights = reinterpret_cast<const int8_t*>(args.packed) +
                        block * static_cast<int64_t>(s.weight_bytes());
            r.start = at.start + block * kBlock;
            r.scale = at.scale + block * kBlock, r.bias = at.bias + block * kBlock;
            r.epilogue = &epilogue;
            r.residual = residual ? input_of<uint8_t>(args, 3) + to : nullptr;
            r.out = args.outputs[0] + to * (epilogue.floats ? 4 : 1);
            r.rows = rows, r.out_w = s.out_w;
            depthwise_quant_rows(r);
          });
    });
    const int64_t scratch = s.in_rows(kQuantRows) * in_row + kReadBehind;
    plan->add_thread_scratch(threads, static_cast<size_t>(scratch));
    plan->input_layouts = {Layout::blocked16, Layout::plain, Layout::plain, Layout::blocked16};
    plan->output_layouts = {Layout::blocked16};
    plan->in_place_input = residual && !epilogue.floats ? 3 : -1;
    return plan;
  }

 private:
  struct Parameters {
    const int32_t* start;
    const float* scale;
    const float* bias;
    Parameters(const DepthwiseShape& s, const std::byte* packed) {
      const auto channels = s.blocks * kBlock;
      start = reinterpret_cast<const int32_t*>(packed +
                                               s.blocks * static_cast<int64_t>(s.weight_bytes()));
      scale = reinterpret_cast<const float*>(start + channels);
      bias = scale + channels;
    }
  };

  // A plan whose closure needs its thread scratch.
  template <typename Run>
  class ScratchPlan final : public KernelPlan {
   public:
    explicit ScratchPlan(Run run) : run_(std::move(run)) {}
    Status run(const RunArgs& args) const override {
      run_(args, *this);
      return {};
    }

   private:
    Run run_;
  };
  template <typename Run>
  static std::unique_ptr<KernelPlan> make_plan_with_scratch(Run run) {
    return std::make_unique<ScratchPlan<Run>>(std::move(run));
  }

  // Rows [first, first + count) of a plane with its pads.
  static void copy_rows(const DepthwiseShape& s, const uint8_t* plane, int64_t first, int64_t count,
                        int64_t in_row, uint8_t pad, uint8_t* to) {
    const int64_t kept = std::min(s.in_w, s.padded_w() - s.left);  // pixels of the input
    for (int64_t i = 0; i < count; ++i, to += in_row) {
      const int64_t row = first + i;
      if (row < 0 || row >= s.in_h) {
        std::memset(to, pad, static_cast<size_t>(in_row));
        continue;
      }
      const auto left = static_cast<size_t>(s.left * kBlock);
      const auto inside = static_cast<size_t>(kept * kBlock);
      std::memset(to, pad, left);
      std::memcpy(to + left, plane + row * s.in_w * kBlock, inside);
      std::memset(to + left + inside, pad, static_cast<size_t>(in_row) - left - inside);
    }
  }

  DepthwiseShape shape_;
  quantize::Requantize requantize_;
};

}  // namespace

Status can_run_quantized_depthwise(const OpContext& context) {
  ANYNPU_TRY(check_vbmi());
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  const Window& w = c.window;
  if (c.group != c.in_channels || c.out_channels != c.in_channels) {
    return fail(Code::unsupported_shape, "{} groups for {} channels, takes one filter per channel",
                c.group, c.in_channels);
  }
  const bool flat = w.dims() == 1;
  const int64_t tall = flat ? 1 : w.kernel[0], down = flat ? 1 : w.stride[0];
  bool fits = w.dims() <= 2 && (tall == 1 || tall == 3 || tall == 5 || tall == 7) &&
              w.kernel.back() <= 8 && down <= 2;
  for (size_t d = 0; d < w.dims(); ++d) {
    // Pads wider than the kernel would leave rows without an input pixel.
    fits = fits && w.dilation[d] == 1 && w.pad_begin[d] < w.kernel[d] &&
           (w.out[d] - 1) * w.stride[d] + w.kernel[d] > w.pad_begin[d];
  }
  if (!fits) {
    return fail(Code::unsupported_shape,
                "takes kernels of 1, 3, 5 or 7 rows and up to 8 columns without dilation and "
                "strides of 1 or 2 down");
  }
  return context.check_constants(1, 2, "weight or bias");
}

Result<std::unique_ptr<Kernel>> create_quantized_depthwise(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  ANYNPU_ASSIGN(auto requantize, quantize::Requantize::of(context, c.out_channels));
  return std::unique_ptr<Kernel>(std::make_unique<QuantizedDepthwise>(c, std::move(requantize)));
}

}  // namespace anynpu::ops::conv
