// SPDX-License-Identifier: Apache-2.0
// Runs a blocked convolution: the input is padded (or interleaved) in the workspace, then tasks of
// (weight panels) x (pixel tiles) run on the thread pool.
#include "ops/conv/blocked.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/elements/epilogue.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops::conv {

namespace {

// Weights up to this size stay in the second-level cache while pixels pass by.
constexpr int64_t kCachedWeights = 512 << 10;
// The same for the input of a task, which its weight panels pass over one by one.
constexpr int64_t kCachedInput = 384 << 10;
constexpr int64_t kTasksPerThread = 4;
// Input and output together over this size come from the third-level cache or from memory.
constexpr int64_t kPrefetchFrom = 4 << 20;

// Padded inputs over this many floats are refused: sizes would overflow.
constexpr int64_t kMostFloats = int64_t{1} << 40;

// What differs between the types: the tiles of a step of pixels.
struct F32Tiles {
  using Element = float;
  using Args = TileArgs;
  using Function = TileFunction;
  const TileSet& set;

  int64_t most() const { return set.max_pixels; }
  bool pairs(int64_t step) const { return step == 16 || step == 32; }  // two rows in a tile
  Function find(int64_t step, int64_t rows, int64_t pixels, int64_t blocks) const {
    return set.find(walk_of(step), rows, pixels, blocks);
  }
  static Walk walk_of(int64_t step) {
    switch (step) {
      case 16:
        return Walk::step16;
      case 32:
        return Walk::step32;
      case 3:
        return Walk::step3;
      case 6:
        return Walk::step6;
      default:
        return Walk::any;
    }
  }
};

struct Bf16Tiles {
  using Element = BF16;
  using Args = Bf16TileArgs;
  using Function = Bf16TileFunction;

  int64_t most() const { return kBf16Pixels; }
  bool pairs(int64_t) const { return false; }
  Function find(int64_t step, int64_t rows, int64_t pixels, int64_t blocks) const {
    const Bf16Walk walk = step == 16   ? Bf16Walk::step16
                          : step == 32 ? Bf16Walk::step32
                                       : Bf16Walk::any;
    return rows == 1 ? find_bf16_tile(walk, pixels, blocks) : nullptr;
  }
};

struct QuantTiles {
  using Element = uint8_t;
  using Args = QuantTileArgs;
  using Function = QuantTileFunction;
  QuantEpilogue epilogue;
  uint8_t pad = 0;  // what padding is

  int64_t most() const { return kQuantPixels; }
  bool pairs(int64_t) const { return false; }
  Function find(int64_t step, int64_t rows, int64_t pixels, int64_t blocks) const {
    return rows == 1 ? find_quant_tile(step, pixels, blocks) : nullptr;
  }
};

// The tiles of one width, by blocks - 1.
template <typename Function>
struct WidthTiles {
  Function one_row[2] = {}, two_rows[2] = {};
};

template <typename Tiles>
class BlockedConvPlan final : public KernelPlan {
 public:
  using T = typename Tiles::Element;
  static constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  explicit BlockedConvPlan(const Tiles& tiles) : kinds(tiles) {}
  Tiles kinds;
  BlockedWeights w;
  Activation activation;
  StepsEpilogue epilogue;           // of f32
  int64_t batch = 0, channels = 0;  // of the whole input
  // The slices of three axes; one of two.
  int64_t in_d = 1, out_d = 1, pad_front = 0, padded_d = 1, stride_d = 1;
  int64_t in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  int64_t pad_top = 0, pad_left = 0;
  int64_t padded_h = 0, padded_w = 0;  // what the tiles read
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  bool skips_pads = false;  // taps in the pads are left out
  bool copies = false;      // the input passes through the workspace
  int64_t rows = 1;         // rows of a tile
  int64_t columns = 1;      // tiles across; their widths differ by one at most
  WidthTiles<typename Tiles::Function> widths[2];  // of out_w / columns pixels, and of one more
  std::vector<int64_t> runs;
  int64_t panel_step = 1, unit_step = 1;  // panels and tiles of one task
  bool prefetch = false;                  // see TileArgs
  bool prefetch_weights = false;

  int64_t row_groups() const { return ceil_div(out_h, rows); }
  int64_t slice_tiles() const { return row_groups() * columns; }
  int64_t tiles() const { return out_d * slice_tiles(); }
  int64_t all_panels() const { return w.group * w.panels(); }
  int64_t image_floats() const {  // of one image as the tiles read it
    const int64_t blocks = w.interleaved ? 1 : ceil_div(channels, 16);
    return blocks * padded_d * padded_h * padded_w * w.pixel_floats();
  }

  Status run(const RunArgs& args) const override {
    const T* in = reinterpret_cast<const T*>(args.inputs[0]);
    if (copies) {
      T* copy = reinterpret_cast<T*>(args.workspace);
      w.interleaved ? interleave(in, copy) : pad(in, copy);
      in = copy;
    }
    const int64_t panel_tasks = ceil_div(all_panels(), panel_step);
    const int64_t units = batch * tiles(), unit_tasks = ceil_div(units, unit_step);
    parallel_tasks(static_cast<size_t>(panel_tasks * unit_tasks), [&](size_t task) {
      const int64_t first = static_cast<int64_t>(task) % panel_tasks * panel_step;
      const int64_t unit = static_cast<int64_t>(task) / panel_tasks * unit_step;
      const int64_t last_unit = std::min(units, unit + unit_step);
      for (int64_t p = first; p < std::min(all_panels(), first + panel_step); ++p) {
        panel(args, in, p / w.panels(), p % w.panels(), unit, last_unit);
      }
    });
    return {};
  }

 private:
  // One weight panel over tiles [unit, last).
  void panel(const RunArgs& args, const T* in, int64_t g, int64_t panel, int64_t unit,
             int64_t last) const {
    const int64_t plane = out_d * out_h * out_w * 16, blocks = w.blocks_of(panel);
    const int64_t block = g * w.out_blocks() + panel * w.panel_blocks;
    const int64_t step = w.pixel_floats();
    const T* residual =
        args.inputs.size() > 3 ? reinterpret_cast<const T*>(args.inputs[3]) : nullptr;
    typename Tiles::Args t;
    const auto used = w.runs_of(panel);
    t.runs = runs.data() + used.first;
    t.run_count = used.count;
    t.run_length = w.run_length();
    t.pixel_step = stride_w * step;
    t.in_row = stride_h * padded_w * step;
    const auto* weights =
        reinterpret_cast<decltype(t.weights)>(args.packed) + w.panel_offset(g, panel);
    t.weights = weights + used.first * t.run_length * blocks * 16;
    t.bias = reinterpret_cast<const float*>(args.packed + w.bias_start()) + block * 16;
    t.out_row = out_w * 16;
    t.out_pixel = 16;
    t.out_block = plane;
    if constexpr (std::is_same_v<T, float>) t.prefetch = prefetch;
    size_t out_bytes = sizeof(T);
    if constexpr (kBytes) {
      t.epilogue = &kinds.epilogue;
      t.scale = reinterpret_cast<const float*>(args.packed + w.scale_start()) + block * 16;
      t.start = reinterpret_cast<const int32_t*>(args.packed + w.sum_start()) + block * 16;
      if (t.epilogue->floats) out_bytes = sizeof(float);
    } else {
      t.clamp = activation.on;
      t.min = activation.min;
      t.max = activation.max;
    }
    const int64_t first = unit;
    for (; unit < last; ++unit) {
      const int64_t n = unit / tiles(), d = unit % tiles() / slice_tiles();
      const int64_t y = unit % slice_tiles() / columns * rows;
      const int64_t x = out_w * (unit % columns) / columns;
      const int64_t pixels = out_w * (unit % columns + 1) / columns - x;
      t.in = in + n * image_floats() + g * w.in_blocks() * padded_d * padded_h * padded_w * step +
             ((d * stride_d * padded_h + y * stride_h) * padded_w + x * stride_w) * step;
      const int64_t out =
          (n * w.group * w.out_blocks() + block) * plane + ((d * out_h + y) * out_w + x) * 16;
      t.out =
          reinterpret_cast<decltype(t.out)>(args.outputs[0] + static_cast<size_t>(out) * out_bytes);
      t.residual = residual ? residual + out : nullptr;
      const bool both = rows == 2 && y + 1 < out_h;
      const auto& width = widths[pixels - out_w / columns];
      const auto function = (both ? width.two_rows : width.one_row)[blocks - 1];
      if constexpr (std::is_same_v<T, float>) {
        // The weights of the next panel lie behind these.
        const int64_t behind = w.run_length() * w.runs() * blocks * 16;
        const bool more = prefetch_weights && block + blocks < w.group * w.out_blocks();
        fetch_ahead(t, more ? weights + behind : nullptr, blocks * 16, unit - first, last - first);
        skips_pads ? taps_inside(t, function, blocks, y, both ? 2 : 1, x, pixels) : function(t);
        for (int64_t b = 0; epilogue && b < blocks; ++b) {
          for (int64_t row = 0; row < (both ? 2 : 1); ++row)
            epilogue.apply(t.out + b * plane + row * t.out_row, pixels * 16);
        }
      } else {
        function(t);
      }
    }
  }

  // The taps [begin, end) of one axis of which any of `count` outputs from `from` on reads an
  // input.
  struct Taps {
    int64_t begin = 0, end = 0;
  };
  static Taps taps_of(int64_t from, int64_t count, int64_t stride, int64_t pad, int64_t dilation,
                      int64_t taps, int64_t extent) {
    const int64_t first = from * stride - pad, last = (from + count - 1) * stride - pad;
    Taps found{taps, 0};
    for (int64_t tap = 0; tap < taps; ++tap) {
      if (last + tap * dilation < 0 || first + tap * dilation >= extent) continue;
      found.begin = std::min(found.begin, tap);
      found.end = tap + 1;
    }
    return found;
  }

  // One tile without the taps that lie in the pads for all its pixels: a product for each row of
  // the kernel, which goes on from the sums so far.
  void taps_inside(const TileArgs& whole, TileFunction function, int64_t blocks, int64_t y,
                   int64_t tile_rows, int64_t x, int64_t pixels) const {
    static constexpr float kNoBias[32] = {};
    const Taps down = taps_of(y, tile_rows, stride_h, pad_top, dilation_h, w.kernel_h, in_h);
    const Taps along = taps_of(x, pixels, stride_w, pad_left, dilation_w, w.kernel_w, in_w);
    const bool all_along = along.begin == 0 && along.end == w.kernel_w;
    if (down.begin >= down.end || along.begin >= along.end ||
        (all_along && down.begin == 0 && down.end == w.kernel_h)) {
      function(whole);
      return;
    }
    const int64_t step = all_along ? down.end - down.begin : 1;  // rows of a product
    for (int64_t row = down.begin; row < down.end; row += step) {
      const int64_t first = (row * w.kernel_w + along.begin) * w.in_blocks();
      TileArgs t = whole;
      t.runs = whole.runs + first;
      t.run_count =
          step == 1 ? (along.end - along.begin) * w.in_blocks() : step * w.kernel_w * w.in_blocks();
      t.weights = whole.weights + first * w.run_length() * blocks * 16;
      t.clamp = whole.clamp && row + step >= down.end;
      if (row > down.begin) t.bias = kNoBias, t.residual = t.out;
      function(t);
    }
  }

  int pad_byte() const {
    if constexpr (kBytes) return kinds.pad;
    return 0;
  }

  void pad(const T* in, T* copy) const {
    const int64_t blocks = ceil_div(channels, 16);
    parallel_tasks(static_cast<size_t>(batch * blocks * padded_d), [&](size_t task) {
      const int64_t plane = static_cast<int64_t>(task) / padded_d;
      const int64_t slice = static_cast<int64_t>(task) % padded_d - pad_front;
      T* y = copy + static_cast<int64_t>(task) * padded_h * padded_w * 16;
      const int64_t right = padded_w - pad_left - in_w;
      const auto zero = [this, &y](int64_t pixels) {
        std::memset(static_cast<void*>(y), pad_byte(),
                    static_cast<size_t>(pixels) * 16 * sizeof(T));
        y += pixels * 16;
      };
      if (slice < 0 || slice >= in_d) return zero(padded_h * padded_w);
      const T* x = in + (plane * in_d + slice) * in_h * in_w * 16;
      zero(pad_top * padded_w);
      for (int64_t row = 0; row < in_h; ++row) {
        zero(pad_left);
        std::memcpy(static_cast<void*>(y), x + row * in_w * 16,
                    static_cast<size_t>(in_w) * 16 * sizeof(T));
        y += in_w * 16;
        zero(right);
      }
      zero((padded_h - pad_top - in_h) * padded_w);
    });
  }

  void interleave(const T* in, T* copy) const {
    const int64_t plane = in_d * in_h * in_w, step = w.pixel_floats();
    parallel(static_cast<size_t>(batch * padded_d * padded_h), 4, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        T* y = copy + i * padded_w * step;
        const int64_t row = i % padded_h - pad_top;
        const int64_t slice = i / padded_h % padded_d - pad_front;
        std::memset(static_cast<void*>(y), pad_byte(),
                    static_cast<size_t>(padded_w * step) * sizeof(T));
        if (row < 0 || row >= in_h || slice < 0 || slice >= in_d) continue;
        const T* x = in + i / padded_h / padded_d * channels * plane + (slice * in_h + row) * in_w;
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t p = 0; p < in_w; ++p) y[(pad_left + p) * step + c] = x[c * plane + p];
        }
      }
    });
  }
};

template <typename Tiles>
void cut_tiles(BlockedConvPlan<Tiles>& plan) {
  const Tiles& tiles = plan.kinds;
  const int64_t step = plan.stride_w * plan.w.pixel_floats();
  plan.rows = tiles.pairs(step) && plan.out_h > 1 && plan.out_w <= tiles.most() / 2 ? 2 : 1;
  plan.columns = std::max<int64_t>(1, ceil_div(plan.out_w, tiles.most()));
  for (int64_t more = 0; more < 2; ++more) {
    const int64_t pixels = plan.out_w / plan.columns + more;
    for (int64_t blocks = 1; blocks <= plan.w.panel_blocks; ++blocks) {
      plan.widths[more].one_row[blocks - 1] = tiles.find(step, 1, pixels, blocks);
      if (plan.rows == 2)
        plan.widths[more].two_rows[blocks - 1] = tiles.find(step, 2, pixels, blocks);
    }
  }
}

// A task takes as many tiles as their input fits the second-level cache, and passes all or some
// weight panels over them: the input is read from there again for each panel.
template <typename Plan>
void cut_tasks(Plan& plan, size_t threads) {
  const int64_t units = std::max<int64_t>(1, plan.batch * plan.tiles());
  const int64_t panels = plan.all_panels();
  const auto tasks = static_cast<int64_t>(threads) * kTasksPerThread;
  const auto input_bytes =
      plan.batch * plan.image_floats() * static_cast<int64_t>(plan.w.element_bytes());
  int64_t chunks = std::clamp<int64_t>(ceil_div(input_bytes, kCachedInput), 1, units);
  plan.panel_step = panels;
  if (static_cast<int64_t>(plan.w.bytes()) <= kCachedWeights) {
    chunks = std::clamp(tasks, chunks, std::max(chunks, units));
  } else if (chunks < tasks) {
    const int64_t pieces = std::min(panels, ceil_div(tasks, chunks));
    plan.panel_step = std::max<int64_t>(1, panels / pieces);
    chunks = std::clamp(ceil_div(tasks, pieces), chunks, std::max(chunks, units));
  }
  plan.unit_step = ceil_div(units, chunks);
}

template <typename Tiles>
Result<std::unique_ptr<KernelPlan>> make_conv_plan(const OpContext& context,
                                                   const BlockedWeights& weights,
                                                   const Tiles& tiles, StepsEpilogue epilogue) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  const Window& window = c.window;
  const size_t across = window.dims() - 1, down = across - 1;  // of the axes
  const bool flat = window.dims() == 1, deep = window.dims() == 3;
  auto plan = std::make_unique<BlockedConvPlan<Tiles>>(tiles);
  plan->w = weights;
  plan->epilogue = std::move(epilogue);
  ANYNPU_ASSIGN(plan->activation, activation_of(context));
  plan->batch = c.batch;
  plan->channels = c.in_channels;
  plan->in_h = flat ? 1 : window.in[down];
  plan->in_w = window.in[across];
  plan->out_h = flat ? 1 : window.out[down];
  plan->out_w = window.out[across];
  plan->stride_h = flat ? 1 : window.stride[down];
  plan->stride_w = window.stride[across];
  plan->pad_top = flat ? 0 : window.pad_begin[down];
  plan->pad_left = window.pad_begin[across];
  int64_t behind = 0;
  if (deep) {
    plan->in_d = window.in[0], plan->out_d = window.out[0];
    plan->stride_d = window.stride[0], plan->pad_front = window.pad_begin[0];
    behind = window.pad_end[0];
  }
  const int64_t bottom = flat ? 0 : window.pad_end[down], right = window.pad_end[across];
  const bool padded =
      plan->pad_front + behind + plan->pad_top + plan->pad_left + bottom + right > 0;
  plan->padded_d = plan->in_d + plan->pad_front + behind;
  plan->padded_h = plan->in_h + plan->pad_top + bottom;
  plan->padded_w = plan->in_w + plan->pad_left + right;
  plan->copies = padded || weights.interleaved;
  if (!plan->copies && weights.taps() == 1 && plan->stride_d == 1 && plan->stride_h == 1 &&
      plan->stride_w == 1) {  // pixels are all alike: one long row
    plan->in_w = plan->padded_w = plan->out_w = plan->in_w * plan->in_h * plan->in_d;
    plan->in_h = plan->padded_h = plan->out_h = 1;
    plan->in_d = plan->padded_d = plan->out_d = 1;
  }
  const int64_t step = weights.pixel_floats(), dilation_h = flat ? 1 : window.dilation[down];
  const int64_t dilation_d = deep ? window.dilation[0] : 1;
  for (int64_t run = 0; run < weights.runs(); ++run) {
    const auto at = weights.run_at(run);
    const int64_t slice = at.block * plan->padded_d + at.slice * dilation_d;
    plan->runs.push_back(((slice * plan->padded_h + at.row * dilation_h) * plan->padded_w +
                          at.column * window.dilation[across]) *
                         step);
  }
  plan->dilation_h = dilation_h, plan->dilation_w = window.dilation[across];
  plan->skips_pads = !weights.joined_columns && padded && !deep;
  const auto floats = static_cast<__int128>(c.batch) * c.in_channels * plan->padded_d *
                      plan->padded_h * plan->padded_w;
  if (floats > kMostFloats) {
    return fail(Code::unsupported_shape,
                "{}: the padded input has more than 2^40 elements; expected "
                "smaller pads",
                context.label());
  }
  if (element_count(context.outputs[0].shape) == 0) plan->batch = 0;
  const int64_t out_floats =
      plan->batch * weights.stored_channels() * plan->out_d * plan->out_h * plan->out_w;
  plan->prefetch = (plan->batch * plan->image_floats() + out_floats) * 4 > kPrefetchFrom;
  plan->prefetch_weights = static_cast<int64_t>(weights.bytes()) > kMostCachedWeights;
  cut_tiles(*plan);
  cut_tasks(*plan, context.target.threads);
  if (plan->copies) {
    plan->workspace_bytes =
        static_cast<size_t>(plan->batch * plan->image_floats()) * weights.element_bytes();
  }
  plan->input_layouts = {weights.interleaved ? Layout::plain : Layout::blocked16, Layout::plain,
                         Layout::plain, Layout::blocked16};
  plan->output_layouts = {Layout::blocked16};
  plan->in_place_input =
      context.has_input(3) && context.outputs[0].dtype == context.inputs[3].dtype ? 3 : -1;
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

Result<std::unique_ptr<KernelPlan>> plan_blocked_conv(const OpContext& context,
                                                      const BlockedWeights& weights,
                                                      const TileSet& tiles) {
  if (weights.kind == BlockedKind::bf16) return make_conv_plan(context, weights, Bf16Tiles{}, {});
  ANYNPU_ASSIGN(StepsEpilogue epilogue, StepsEpilogue::of(context, tiles.isa));
  return make_conv_plan(context, weights, F32Tiles{tiles}, std::move(epilogue));
}

Result<std::unique_ptr<KernelPlan>> plan_quantized_conv(const OpContext& context,
                                                        const BlockedWeights& weights,
                                                        const quantize::Requantize& requantize) {
  const QuantTiles tiles{requantize.epilogue(), static_cast<uint8_t>(requantize.x_zero)};
  return make_conv_plan(context, weights, tiles, {});
}

}  // namespace anynpu::ops::conv
