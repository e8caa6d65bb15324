// SPDX-License-Identifier: Apache-2.0
// Convolution as one product: a row for each place of a grid, a column for each output channel,
// k = (block of 32 input channels, tap, channel of the block).
//
// The grid of an image has the pixels of the padded input, so that each tap is a constant distance
// from the place of the result: [block of 32 channels][phase][place][32]. Places are counted
// through all images; a row of the grid ends where the zeros that follow it are also those before
// the next one. A stride splits the input into phases: what one tap sees of it lies side by side.
// Some places have no result. A task arranges its part of the grid from blocks of 16 channels.
//
// Images of few channels lie plain. What a line of the kernel sees of all channels has room in the
// 32 elements of a place: it is folded into it, and taps are the lines of the kernel.
#include "ops/conv/conv_amx.h"

#include <cstring>
#include <utility>

#include "base/align.h"
#include "ops/amx/product.h"
#include "ops/blocked_layout.h"
#include "ops/conv/conv.h"
#include "ops/plain_kernel.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::conv {

using namespace amx;

namespace {

constexpr int64_t kUnit = 16;  // channels of a block of the layout

// Zeros; a loop over elements would take longer than the products of a small layer.
void clear(BF16* to, int64_t count) {
  std::memset(static_cast<void*>(to), 0, static_cast<size_t>(count) * sizeof(BF16));
}

// One axis: `extent` elements with zeros around them, seen by taps.
struct Axis {
  int64_t extent = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;

  // Whether a result is made of the element in its place alone.
  bool is_plain() const { return kernel == 1 && stride == 1 && pad == 0 && out == extent; }
  int64_t phase(int64_t tap) const { return tap * dilation % stride; }
  int64_t offset(int64_t tap) const { return tap * dilation / stride; }
  // From the begin of a line to that of the next. The places that taps see behind a line are zeros;
  // with stride 1 they may be the zeros before the next one.
  int64_t pitch() const {
    const int64_t seen = out + offset(kernel - 1);
    return stride == 1 ? std::max({extent + pad, seen - pad, out}) : seen;
  }
};

struct Grid {
  Axis y, x;                    // folded: x is the line of places alone
  Axis folded_x;                // of the input
  int64_t folded_channels = 0;  // 0: not folded
  int64_t batch = 1, in_blocks = 1;
  int64_t line = 1, image = 1;  // places
  std::vector<std::pair<int64_t, int64_t>> phases;
  std::vector<size_t> phase_of_tap;

  int64_t blocks() const { return ceil_div(in_blocks, 2); }
  int64_t taps() const { return y.kernel * x.kernel; }
  int64_t offset(int64_t tap) const {
    return y.offset(tap / x.kernel) * line + x.offset(tap % x.kernel);
  }
  // Places until behind the last result.
  int64_t places() const { return (batch - 1) * image + (y.out - 1) * line + x.out; }
  int64_t most_offset() const { return offset(taps() - 1); }
  int64_t sets() const { return blocks() * static_cast<int64_t>(phases.size()); }

  void fold(int64_t channels) {
    folded_channels = channels;
    folded_x = std::exchange(x, Axis{x.out, x.out});
  }
  // Lines that follow each other without zeros between them are one.
  void join_lines() {
    if (!y.is_plain() || !x.is_plain()) return;
    x = Axis{y.extent * x.extent, y.extent * x.extent};
    y = Axis{};
  }
  void finish() {
    line = x.pitch();
    image = line * y.pitch();
    for (int64_t tap = 0; tap < taps(); ++tap) {
      const std::pair phase(y.phase(tap / x.kernel), x.phase(tap % x.kernel));
      const auto found = std::find(phases.begin(), phases.end(), phase);
      phase_of_tap.push_back(static_cast<size_t>(found - phases.begin()));
      if (found == phases.end()) phases.push_back(phase);
    }
  }

  // The places [first, first + count) of all blocks and phases, each `span` places apart.
  void arrange(const Engine& engine, const BF16* input, int64_t first, int64_t count, int64_t span,
               BF16* to) const {
    for (int64_t block = 0; block < blocks(); ++block) {
      for (const auto& phase : phases) {
        arrange(engine, input, block, phase, first, count, to);
        to += span * kDepth;
      }
    }
  }

 private:
  void arrange(const Engine& engine, const BF16* input, int64_t block,
               std::pair<int64_t, int64_t> phase, int64_t first, int64_t count, BF16* to) const {
    const int64_t plane = y.extent * x.extent * kUnit;
    const int64_t folded_plane = y.extent * folded_x.extent;
    for (int64_t place = first, end = first + count; place < end;) {
      const int64_t n = place / image, row = place % image / line, begin = place % line;
      const int64_t run = std::min(line - begin, end - place);
      const int64_t from_y = row * y.stride + phase.first - y.pad;
      place += run;
      if (n >= batch || from_y < 0 || from_y >= y.extent) {
        clear(to, run * kDepth);
        to += run * kDepth;
        continue;
      }
      if (folded_channels > 0) {
        const BF16* lines = input + n * folded_channels * folded_plane + from_y * folded_x.extent;
        for (int64_t i = begin; i < begin + run; ++i, to += kDepth)
          fold_place(lines, folded_plane, i * folded_x.stride - folded_x.pad, to);
        continue;
      }
      // The places of this run that lie in the input.
      const int64_t shift = x.pad - phase.second;
      const int64_t low =
          std::clamp(ceil_div(std::max<int64_t>(shift, 0), x.stride) - begin, int64_t{0}, run);
      const int64_t high = std::clamp(
          shift + x.extent <= 0 ? 0 : ceil_div(shift + x.extent, x.stride) - begin, low, run);
      clear(to, low * kDepth);
      const BF16* from = input + (n * in_blocks + 2 * block) * plane +
                         (from_y * x.extent + (begin + low) * x.stride - shift) * kUnit;
      engine.join_units(from, 2 * block + 1 < in_blocks ? plane : 0, x.stride * kUnit, high - low,
                        to + low * kDepth);
      clear(to + high * kDepth, (run - high) * kDepth);
      to += run * kDepth;
    }
  }

  // [channel][element of a line of the kernel] from element `at` on; the rest are zeros.
  void fold_place(const BF16* lines, int64_t plane, int64_t at, BF16* to) const {
    constexpr int64_t kWide = 8;
    const int64_t width = folded_x.kernel, used = folded_channels * width;
    std::fill_n(to, kDepth, BF16{});
    if (width <= kWide && used + kWide <= kDepth && at >= 0 && at + kWide <= folded_x.extent) {
      // Always eight: the next channel, and zeros in the end, cover what is too many.
      for (int64_t c = 0; c < folded_channels; ++c)
        std::memcpy(static_cast<void*>(to + c * width), lines + c * plane + at, kWide * 2);
      std::fill_n(to + used, kWide, BF16{});
      return;
    }
    const int64_t low = std::clamp<int64_t>(-at, 0, width);
    const int64_t high = std::clamp<int64_t>(folded_x.extent - at, low, width);
    for (int64_t c = 0; c < folded_channels; ++c)
      std::copy(lines + c * plane + at + low, lines + c * plane + at + high, to + c * width + low);
  }
};

struct AmxConvPlan final : KernelPlan {
  const Engine* engine = nullptr;
  PackedB right;
  Grid grid;
  TaskTiling tiling;
  Activation activation;
  int64_t plane = 0;             // pixels of an output image
  int64_t span = 0;              // places of a task's part of the grid
  std::vector<int64_t> step_at;  // of a task's part
  std::vector<int64_t> row_at;   // results of a place
  size_t bias_start = 0;         // in the packed bytes

  void lay_out() {
    const int64_t sets = static_cast<int64_t>(grid.phases.size());
    span = round_up(tiling.rows, kPanel) + grid.most_offset();
    for (int64_t block = 0; block < grid.blocks(); ++block) {
      for (int64_t tap = 0; tap < grid.taps(); ++tap) {
        const auto phase = static_cast<int64_t>(grid.phase_of_tap[static_cast<size_t>(tap)]);
        step_at.push_back(((block * sets + phase) * span + grid.offset(tap)) * kDepth * 2);
      }
    }
    const int64_t out_blocks = ceil_div(right.n, kUnit);
    row_at.assign(static_cast<size_t>(grid.places()), -1);
    for (int64_t n = 0; n < grid.batch; ++n) {
      for (int64_t y = 0; y < grid.y.out; ++y) {
        for (int64_t x = 0; x < grid.x.out; ++x) {
          row_at[static_cast<size_t>(n * grid.image + y * grid.line + x)] =
              (n * out_blocks * plane + y * grid.x.out + x) * kUnit;
        }
      }
    }
  }
  int64_t scratch_bytes() const { return grid.sets() * span * kDepth * 2; }

  Status run(const RunArgs& args) const override {
    if (tiling.m == 0) return {};
    const bool added = args.inputs.size() > 3 && args.inputs[3];
    Epilogue epilogue;
    epilogue.bias = reinterpret_cast<const float*>(args.packed + bias_start);
    epilogue.residual = added ? input_of<BF16>(args, 3) : nullptr;
    epilogue.out = output_of<BF16>(args, 0);
    epilogue.row_at = row_at.data();
    epilogue.tile_step = plane * kUnit;
    epilogue.rows = tiling.m;
    epilogue.columns = round_up(right.n, kUnit);  // the layout has whole blocks
    epilogue.clamp = activation.on;
    epilogue.min = activation.min;
    epilogue.max = activation.max;
    run_tasks(tiling.tasks(), *this, args, [&](int64_t task, std::byte* scratch) {
      const int64_t row = tiling.first_row(task), rows = tiling.end_row(task) - row;
      const int64_t panels = ceil_div(rows, kPanel), panel = tiling.first_panel(task);
      grid.arrange(*engine, input_of<BF16>(args, 0), row, panels * kPanel + grid.most_offset(),
                   span, reinterpret_cast<BF16*>(scratch));
      Job job;
      job.a = scratch;
      job.row_bytes = kDepth * 2;
      job.panel_bytes = kPanel * job.row_bytes;
      job.step_at = step_at.data();
      job.b = reinterpret_cast<const BF16*>(args.packed) + panel * right.panel_elements();
      job.b_panel = right.panel_elements();
      job.row_panels = panels;
      job.column_panels = tiling.end_panel(task) - panel;
      job.steps = right.steps();
      job.columns_outside = tiling.columns_outside;
      job.row = row;
      job.column = panel * kPanel;
      job.epilogue = &epilogue;
      engine->multiply(job);
    });
    return {};
  }
};

// Whether what a line of the kernel sees of all channels is one place.
bool folds(const ConvShape& c) {
  const size_t across = c.window.dims() - 1;
  return c.in_channels <= kUnit / 2 && c.window.dilation[across] == 1 &&
         c.in_channels * c.window.kernel[across] <= kDepth;
}

class AmxConv final : public Kernel {
 public:
  AmxConv(const Engine& engine, const ConvShape& c)
      : engine_(engine),
        channels_(c.in_channels),
        width_(c.window.kernel[c.window.dims() - 1]),
        taps_(element_count(c.window.kernel)),
        folded_(folds(c)),
        right_{(folded_ ? taps_ / width_ : ceil_div(c.in_channels, kDepth) * taps_) * kDepth,
               c.out_channels} {}

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
            int64_t c = k / kDepth / taps_ * kDepth + k % kDepth, tap = k / kDepth % taps_;
            if (folded_) c = k % kDepth / width_, tap = k / kDepth * width_ + k % kDepth % width_;
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
    plan->engine = &engine_;
    plan->right = right_;
    Grid& grid = plan->grid;
    grid.batch = c.batch;
    grid.in_blocks = ceil_div(c.in_channels, kUnit);
    grid.x = axis_of(c.window, c.window.dims() - 1);
    if (c.window.dims() == 2) grid.y = axis_of(c.window, 0);
    folded_ ? grid.fold(channels_) : grid.join_lines();
    grid.finish();
    plan->plane = grid.y.out * grid.x.out;
    plan->bias_start = bias_start();
    const bool empty = element_count(context.outputs[0].shape) == 0;
    const auto threads = static_cast<int64_t>(context.target.threads);
    plan->tiling = tile_work(right_, empty ? 0 : grid.places(), grid.sets() * kDepth * 2, threads);
    if (!empty) plan->lay_out();
    plan->add_thread_scratch(static_cast<size_t>(threads),
                             static_cast<size_t>(plan->scratch_bytes()));
    plan->input_layouts = {folded_ ? Layout::plain : Layout::blocked16, Layout::plain,
                           Layout::plain, Layout::blocked16};
    plan->output_layouts = {Layout::blocked16};
    plan->in_place_input = context.has_input(3) ? 3 : -1;
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  static Axis axis_of(const Window& w, size_t i) {
    return {w.in[i], w.out[i], w.kernel[i], w.stride[i], w.dilation[i], w.pad_begin[i]};
  }
  size_t bias_start() const { return static_cast<size_t>(right_.elements()) * sizeof(BF16); }

  const Engine& engine_;
  int64_t channels_, width_, taps_;
  bool folded_;
  PackedB right_;
};

}  // namespace

Status check_amx_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  if (c.window.dims() > 2) {
    return fail(Code::unsupported_shape, "{} spatial dimensions, takes 1 or 2", c.window.dims());
  }
  if (c.group != 1) return fail(Code::unsupported_shape, "{} groups, takes one", c.group);
  if (c.in_channels <= kUnit / 2 && !folds(c)) {
    return fail(Code::unsupported_shape,
                "{} input channels leave most of a tile empty, and a line of the kernel does not "
                "fit into one",
                c.in_channels);
  }
  return context.check_constants(1, 2, "weight or bias");
}

Status can_run_amx_conv(const OpContext& context) {
  ANYNPU_TRY(check_amx());
  return check_amx_conv(context);
}

template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_amx_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  return std::unique_ptr<Kernel>(std::make_unique<AmxConv>(engine(), c));
}

template Result<std::unique_ptr<Kernel>> create_amx_conv<amx_engine>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_amx_conv<software_engine>(const OpContext&);

}  // namespace anynpu::ops::conv
