// SPDX-License-Identifier: Apache-2.0
// A task takes some tiles of 2 x 2 outputs: it transforms their input once, then passes the weight
// panels over it, for each of them 16 matrix products and the way back.
#include "ops/conv/winograd.h"

#include <algorithm>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/conv/winograd_transform.h"
#include "ops/elements/epilogue.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/simd/tile.h"

namespace anynpu::ops::conv {

namespace {

constexpr int64_t kPanelBlocks = 2, kPanelWidth = kWinogradPanel;
static_assert(kPanelWidth == kPanelBlocks * 16);
constexpr int64_t kCachedTaps = 480 << 10;  // bytes of transformed input of a task
// With fewer tiles the larger weights cost more than fewer products save.
constexpr int64_t kFewestTiles = 48, kFewestChannels = 32;

// [panel][tap][input channel][columns], then the biases; channels padded with zeros to blocks.
struct WinogradWeights {
  int64_t in_channels = 0, out_channels = 0;

  int64_t in_blocks() const { return ceil_div(in_channels, 16); }
  int64_t out_blocks() const { return ceil_div(out_channels, 16); }
  int64_t panels() const { return ceil_div(out_blocks(), kPanelBlocks); }
  int64_t blocks_of(int64_t panel) const {
    return std::min(kPanelBlocks, out_blocks() - panel * kPanelBlocks);
  }
  int64_t offset(int64_t panel) const {
    return panel * kPanelWidth * kWinogradTaps * in_blocks() * 16;
  }
  int64_t bias_offset() const { return out_blocks() * 16 * kWinogradTaps * in_blocks() * 16; }
  int64_t floats() const { return bias_offset() + out_blocks() * 16; }

  void pack(const float* weight, const float* bias, float* packed) const {
    parallel_tasks(static_cast<size_t>(panels() * in_blocks()), [&](size_t task) {
      const auto at = static_cast<int64_t>(task);
      pack_block(weight, at / in_blocks(), at % in_blocks(), packed);
    });
    float* out = packed + bias_offset();
    std::fill(out, packed + floats(), 0.0f);
    if (bias) std::copy(bias, bias + out_channels, out);
  }

 private:
  // The weights of one panel for one block of input channels.
  void pack_block(const float* weight, int64_t panel, int64_t block, float* packed) const {
    const int64_t width = blocks_of(panel) * 16, first = panel * kPanelWidth;
    float kernels[16][9][kPanelWidth] = {};
    const int64_t channels = std::min<int64_t>(16, in_channels - block * 16);
    for (int64_t o = 0; o < std::min(width, out_channels - first); ++o) {
      const float* from = weight + ((first + o) * in_channels + block * 16) * 9;
      for (int64_t i = 0; i < channels; ++i) {
        for (int64_t tap = 0; tap < 9; ++tap) kernels[i][tap][o] = *from++;
      }
    }
    for (int64_t i = 0; i < 16; ++i) {
      float taps[kWinogradTaps][kPanelWidth];
      winograd_weights(kernels[i], taps);
      float* out = packed + offset(panel) + (block * 16 + i) * width;
      for (int64_t tap = 0; tap < kWinogradTaps; ++tap) {
        std::copy(taps[tap], taps[tap] + width, out + tap * in_blocks() * 16 * width);
      }
    }
  }
};

class WinogradPlan final : public KernelPlan {
 public:
  WinogradWeights w;
  Activation activation;
  StepsEpilogue epilogue;
  const TileSet* set = nullptr;
  int64_t batch = 0, in_h = 0, in_w = 0, out_h = 0, out_w = 0, pad_top = 0, pad_left = 0;
  size_t threads = 1;
  int64_t chunk = 1;          // tiles of a task
  std::vector<int64_t> runs;  // of the products over channels

  int64_t down() const { return (out_h + 1) / 2; }
  int64_t across() const { return (out_w + 1) / 2; }
  int64_t tiles() const { return batch * down() * across(); }
  int64_t taps_floats() const { return kWinogradTaps * w.in_blocks() * chunk * 16; }
  int64_t sums_floats() const { return kWinogradTaps * kPanelBlocks * chunk * 16; }

  Status run(const RunArgs& args) const override {
    const int64_t tasks = ceil_div(tiles(), chunk);
    parallel_slots(threads, static_cast<size_t>(tasks), [&](size_t task, size_t slot) {
      float* scratch = reinterpret_cast<float*>(args.workspace) +
                       static_cast<int64_t>(slot) * (taps_floats() + sums_floats());
      const int64_t first = static_cast<int64_t>(task) * chunk;
      run_tiles(args, first, std::min(chunk, tiles() - first), scratch);
    });
    return {};
  }

 private:
  void run_tiles(const RunArgs& args, int64_t first, int64_t count, float* scratch) const {
    WinogradInput input;
    input.blocks = w.in_blocks();
    input.h = in_h, input.w = in_w;
    input.out_block = chunk * 16;
    input.out_tap = w.in_blocks() * chunk * 16;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t tile = first + i, image = tile / (down() * across());
      input.in = input_of<float>(args, 0) + image * w.in_blocks() * in_h * in_w * 16;
      input.y = tile / across() % down() * 2 - pad_top;
      input.x = tile % across() * 2 - pad_left;
      input.out = scratch + i * 16;
      winograd_input(input);
    }
    float* sums = scratch + taps_floats();
    for (int64_t panel = 0; panel < w.panels(); ++panel) {
      multiply(args, panel, count, scratch, sums);
      finish(args, panel, first, count, sums);
      if (epilogue) apply_epilogue(args, panel, first, count);
    }
  }

  // Over the results of tiles [first, first + count), as far as they lie in one row at a time.
  void apply_epilogue(const RunArgs& args, int64_t panel, int64_t first, int64_t count) const {
    for (int64_t tile = first; tile < first + count;) {
      const int64_t row = tile / across(), last = std::min(first + count, (row + 1) * across());
      const int64_t image = row / down(), y = row % down() * 2, x = tile % across() * 2;
      const int64_t end = std::min(out_w, (last - row * across()) * 2);
      for (int64_t b = 0; b < w.blocks_of(panel); ++b) {
        const int64_t plane = image * w.out_blocks() + panel * kPanelBlocks + b;
        for (int64_t i = y; i < std::min(out_h, y + 2); ++i) {
          epilogue.apply(output_of<float>(args, 0) + ((plane * out_h + i) * out_w + x) * 16,
                         (end - x) * 16);
        }
      }
      tile = last;
    }
  }

  // The products over channels: sums[tap][block][tile][16].
  void multiply(const RunArgs& args, int64_t panel, int64_t count, const float* taps,
                float* sums) const {
    static constexpr float kNoBias[kPanelWidth] = {};
    const int64_t blocks = w.blocks_of(panel), most = set->max_pixels;
    const int64_t pieces = ceil_div(count, most);
    const bool prefetches = w.floats() * 4 > kMostCachedWeights;
    TileArgs t;
    t.runs = runs.data();
    t.run_count = w.in_blocks();
    t.run_length = 16;
    t.bias = kNoBias;
    t.out_pixel = 16;
    t.out_block = chunk * 16;
    for (int64_t tap = 0; tap < kWinogradTaps; ++tap) {
      t.weights = reinterpret_cast<const float*>(args.packed) + w.offset(panel) +
                  tap * w.in_blocks() * 16 * blocks * 16;
      // The weights of the next tap or panel lie behind these; behind the last, nothing.
      const bool last = panel + 1 == w.panels() && tap + 1 == kWinogradTaps;
      const float* next =
          prefetches && !last ? t.weights + w.in_blocks() * 16 * blocks * 16 : nullptr;
      for (int64_t piece = 0; piece < pieces; ++piece) {
        const int64_t begin = count * piece / pieces, end = count * (piece + 1) / pieces;
        t.in = taps + tap * w.in_blocks() * chunk * 16 + begin * 16;
        t.out = sums + tap * kPanelBlocks * chunk * 16 + begin * 16;
        fetch_ahead(t, next, blocks * 16, piece, pieces);
        set->find(Walk::step16, 1, end - begin, blocks)(t);
      }
    }
  }

  void finish(const RunArgs& args, int64_t panel, int64_t first, int64_t count,
              const float* sums) const {
    const float* residual = args.inputs.size() > 3 ? input_of<float>(args, 3) : nullptr;
    const int64_t block = panel * kPanelBlocks;
    WinogradOutput output;
    output.in_block = chunk * 16;
    output.in_tap = kPanelBlocks * chunk * 16;
    output.blocks = w.blocks_of(panel);
    output.bias = reinterpret_cast<const float*>(args.packed) + w.bias_offset() + block * 16;
    output.out_row = out_w * 16;
    output.out_block = out_h * out_w * 16;
    output.clamp = activation.on;
    output.min = activation.min;
    output.max = activation.max;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t tile = first + i, image = tile / (down() * across());
      const int64_t y = tile / across() % down() * 2, x = tile % across() * 2;
      const int64_t place = ((image * w.out_blocks() + block) * out_h * out_w + y * out_w + x) * 16;
      output.in = sums + i * 16;
      output.out = output_of<float>(args, 0) + place;
      output.residual = residual ? residual + place : nullptr;
      output.rows = std::min<int64_t>(2, out_h - y);
      output.columns = std::min<int64_t>(2, out_w - x);
      winograd_output(output);
    }
  }
};

class WinogradConv final : public Kernel {
 public:
  explicit WinogradConv(const ConvShape& c) : weights_{c.in_channels, c.out_channels} {}

  size_t packed_bytes() const override {
    return static_cast<size_t>(weights_.floats()) * sizeof(float);
  }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    const auto constant = [&](size_t input) {
      return reinterpret_cast<const float*>(context.inputs[input].constant.data());
    };
    weights_.pack(constant(1), context.has_input(2) ? constant(2) : nullptr,
                  reinterpret_cast<float*>(packed.data()));
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
    auto plan = std::make_unique<WinogradPlan>();
    ANYNPU_ASSIGN(plan->activation, activation_of(context));
    ANYNPU_ASSIGN(plan->epilogue, StepsEpilogue::of(context, Isa::avx512));
    plan->w = weights_;
    plan->set = &tile_set(Isa::avx512);
    plan->batch = element_count(context.outputs[0].shape) == 0 ? 0 : c.batch;
    plan->in_h = c.window.in[0], plan->in_w = c.window.in[1];
    plan->out_h = c.window.out[0], plan->out_w = c.window.out[1];
    plan->pad_top = c.window.pad_begin[0], plan->pad_left = c.window.pad_begin[1];
    // As many tiles as fit the cache, in whole register tiles, and work for every thread.
    plan->threads = context.target.threads;
    const auto threads = static_cast<int64_t>(plan->threads);
    const int64_t most = plan->set->max_pixels;
    const int64_t fitting = kCachedTaps / (kWinogradTaps * weights_.in_blocks() * 16 * 4);
    const int64_t share = (plan->tiles() + threads * 2 - 1) / (threads * 2);
    plan->chunk = std::clamp<int64_t>(std::min(fitting, share) / most * most, most, most * 8);
    for (int64_t block = 0; block < weights_.in_blocks(); ++block) {
      plan->runs.push_back(block * plan->chunk * 16);
    }
    plan->workspace_bytes =
        static_cast<size_t>(threads * (plan->taps_floats() + plan->sums_floats()) *
                            static_cast<int64_t>(sizeof(float)));
    plan->input_layouts = {Layout::blocked16, Layout::plain, Layout::plain, Layout::blocked16};
    plan->output_layouts = {Layout::blocked16};
    plan->in_place_input = context.has_input(3) ? 3 : -1;
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  WinogradWeights weights_;
};

}  // namespace

Status can_run_winograd_conv(const OpContext& context) {
  ANYNPU_TRY(check_isa(Isa::avx512));
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  const Window& window = c.window;
  const auto all = [](const std::vector<int64_t>& values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
  };
  if (window.dims() != 2 || !all(window.kernel, 3) || !all(window.stride, 1) ||
      !all(window.dilation, 1) || c.group != 1) {
    return fail(Code::unsupported_shape, "takes 3x3 kernels of stride and dilation 1 in one group");
  }
  ANYNPU_TRY(context.check_constants(1, 2, "weight or bias"));
  const int64_t tiles = c.batch * ((window.out[0] + 1) / 2) * ((window.out[1] + 1) / 2);
  if (tiles < kFewestTiles || std::min(c.in_channels, c.out_channels) < kFewestChannels) {
    return fail(Code::unsupported_shape,
                "{} tiles of {} and {} channels: the larger weights would cost more than they save",
                tiles, c.in_channels, c.out_channels);
  }
  return {};
}

Result<std::unique_ptr<Kernel>> create_winograd_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  return std::unique_ptr<Kernel>(std::make_unique<WinogradConv>(c));
}

}  // namespace anynpu::ops::conv
