// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/im2col.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/simd/products.h"
#include "ops/simd/tile.h"
#include "tensor/shape.h"

namespace anynpu::ops::conv {

namespace {

constexpr int64_t kCachedBytes = 384 << 10;  // of the panels of one task
constexpr int64_t kMostPanels = 8;           // of one task
constexpr int64_t kIm2colTasksPerThread = 4;
constexpr int64_t kMostPanelBytes = int64_t{64} << 20;
constexpr int64_t kMostColumns = 32;
constexpr int kFewProducts = 1 << 14;

// The layout of a phase's packed weights: [group][tile of rows][k][rows of the tile].
struct PhaseRows {
  int64_t depth = 0;  // channels of a group times taps
  int64_t start = 0;  // in floats
};

// Columns of a panel that follow each other along the last axis.
struct Segment {
  int64_t column = 0, count = 0;
  int64_t out = 0;                               // of the first, in the output plane
  std::array<int64_t, kMostIm2colAxes> at = {};  // of the first, in the grid
};

struct Segments {
  std::array<Segment, kMostColumns> list;
  size_t count = 0;
};

struct WeightRows {
  Im2colConv conv;
  const TileSet* tiles = nullptr;
  std::vector<PhaseRows> phases;
  int64_t floats = 0;

  WeightRows(Im2colConv made, const TileSet& set) : conv(std::move(made)), tiles(&set) {
    for (const ConvPhase& phase : conv.phases) {
      const int64_t depth = conv.in_group() * static_cast<int64_t>(phase.taps.size());
      phases.push_back({depth, floats});
      floats += conv.out_channels * depth;
    }
  }

  int64_t row_tiles() const { return ceil_div(conv.out_group(), tiles->max_pixels); }
  int64_t first_row(int64_t tile) const { return conv.out_group() * tile / row_tiles(); }
  int64_t place(size_t phase, int64_t group, int64_t row) const {
    return phases[phase].start + (group * conv.out_group() + row) * phases[phase].depth;
  }

  void pack_tile(const float* w, size_t phase, int64_t group, int64_t tile, float* packed) const {
    const std::vector<int64_t>& taps = conv.phases[phase].taps;
    const int64_t row = first_row(tile), rows = first_row(tile + 1) - row;
    float* out = packed + place(phase, group, row);
    if (static_cast<int64_t>(taps.size()) == conv.kernel_taps && !conv.transposed) {
      const int64_t depth = phases[phase].depth;
      product_set(tiles->isa)
          .transpose(w + (group * conv.out_group() + row) * depth, depth, rows, depth, 1, out,
                     rows);
      return;
    }
    for (int64_t c = 0; c < conv.in_group(); ++c) {
      for (const int64_t tap : taps) {
        for (int64_t i = 0; i < rows; ++i) {
          const int64_t m = row + i;
          const int64_t at = conv.transposed ? (group * conv.in_group() + c) * conv.out_group() + m
                                             : (group * conv.out_group() + m) * conv.in_group() + c;
          *out++ = w[at * conv.kernel_taps + tap];
        }
      }
    }
  }
  void pack(const float* w, float* packed) const {
    const int64_t each = conv.group * row_tiles();
    parallel_tasks(conv.phases.size() * static_cast<size_t>(each), [&](size_t task) {
      const auto rest = static_cast<int64_t>(task) % each;
      pack_tile(w, task / static_cast<size_t>(each), rest / row_tiles(), rest % row_tiles(),
                packed);
    });
  }
};

class Im2colPlan final : public KernelPlan {
 public:
  explicit Im2colPlan(WeightRows given) : rows(std::move(given)) {}

  WeightRows rows;
  bool packs_weights = false;
  int64_t wide = 16;                    // columns of a full panel
  std::vector<TileFunction> functions;  // by rows - 1, then blocks - 1
  std::vector<int64_t> panel_steps;     // panels of a task, by phase
  std::vector<int64_t> first_task;      // by phase, of one image and group
  int64_t tile_step = 1, row_pieces = 1;
  int64_t in_plane = 1, out_plane = 1;
  std::vector<int64_t> in_strides, out_strides;
  size_t threads = 1;
  size_t scratch_at = 0, scratch_floats = 0, tile_at = 0;  // in floats; the tile, in the scratch

  Status run(const RunArgs& args) const override {
    const Im2colConv& c = rows.conv;
    if (c.batch == 0 || out_plane == 0) return {};
    auto* work = reinterpret_cast<float*>(args.workspace);
    std::fill(work, work + wide, 0.0f);  // what tiles add in place of a bias
    const float* weights = reinterpret_cast<const float*>(args.packed);
    if (packs_weights) {
      rows.pack(input_of<float>(args, 1), work + wide);
      weights = work + wide;
    }
    const int64_t each = first_task.back() * row_pieces;
    parallel_slots(threads, static_cast<size_t>(c.batch * c.group * each),
                   [&](size_t task, size_t slot) {
                     const auto t = static_cast<int64_t>(task);
                     run_task(args, t / each / c.group, t / each % c.group, t % each, weights,
                              work + scratch_at + slot * scratch_floats);
                   });
    return {};
  }

 private:
  void run_task(const RunArgs& args, int64_t image, int64_t group, int64_t task,
                const float* weights, float* scratch) const {
    const int64_t piece = task % row_pieces, step = task / row_pieces;
    size_t phase = 0;
    while (first_task[phase + 1] <= step) ++phase;
    const ConvPhase& p = rows.conv.phases[phase];
    const int64_t positions = p.positions(), panels = ceil_div(positions, wide);
    const int64_t first = (step - first_task[phase]) * panel_steps[phase];
    const int64_t last = std::min(panels, first + panel_steps[phase]);
    const int64_t depth = rows.phases[phase].depth;
    std::array<Segments, kMostPanels> segments;
    for (int64_t panel = first; panel < last; ++panel) {
      Segments& found = segments[static_cast<size_t>(panel - first)];
      find_segments(p, panel * wide, std::min(positions, (panel + 1) * wide), found);
      gather(args, image, group, p, found, columns_of(positions, panel),
             scratch + (panel - first) * wide * depth);
    }
    const int64_t end = std::min(rows.row_tiles(), (piece + 1) * tile_step);
    for (int64_t tile = piece * tile_step; tile < end; ++tile) {
      const int64_t row = rows.first_row(tile), count = rows.first_row(tile + 1) - row;
      for (int64_t panel = first; panel < last; ++panel) {
        const int64_t columns = columns_of(positions, panel);
        multiply(weights + rows.place(phase, group, row), scratch + (panel - first) * wide * depth,
                 reinterpret_cast<const float*>(args.workspace), depth, count, columns,
                 scratch + tile_at);
        finish(args, image, group * rows.conv.out_group() + row, count, columns,
               segments[static_cast<size_t>(panel - first)], scratch + tile_at);
      }
    }
  }

  // Those of a panel, filled up to whole blocks of 16.
  int64_t columns_of(int64_t positions, int64_t panel) const {
    return std::min(wide, round_up(positions - panel * wide, 16));
  }

  // The positions [begin, end) of the grid of a phase.
  void find_segments(const ConvPhase& p, int64_t begin, int64_t end, Segments& found) const {
    const size_t last = p.grid.size() - 1;
    found.count = 0;
    for (int64_t at = begin; at < end;) {
      Segment& s = found.list[found.count++];
      s.column = at - begin;
      s.out = 0;
      int64_t rest = at;
      for (size_t d = p.grid.size(); d-- > 0; rest /= p.grid[d]) {
        s.at[d] = rest % p.grid[d];
        s.out += (s.at[d] * rows.conv.out_step[d] + p.first[d]) * out_strides[d];
      }
      s.count = std::min(end - at, p.grid[last] - s.at[last]);
      at += s.count;
    }
  }

  // panel[channel][tap][column]
  void gather(const RunArgs& args, int64_t image, int64_t group, const ConvPhase& p,
              const Segments& segments, int64_t columns, float* panel) const {
    const Im2colConv& c = rows.conv;
    const size_t dims = p.grid.size(), taps = p.taps.size();
    const float* x =
        input_of<float>(args, 0) + (image * c.in_channels + group * c.in_group()) * in_plane;
    const Segment& rearmost = segments.list[segments.count - 1];
    const int64_t used = rearmost.column + rearmost.count;
    const int64_t step = c.in_step[dims - 1], extent = c.in[dims - 1];
    for (size_t s = 0; s < segments.count; ++s) {
      const Segment& segment = segments.list[s];
      const int64_t padding = s + 1 == segments.count ? columns - used : 0;
      for (size_t t = 0; t < taps; ++t) {
        const int64_t* offset = p.offsets.data() + t * dims;
        int64_t base = 0;
        bool inside = true;
        for (size_t d = 0; d + 1 < dims; ++d) {
          const int64_t at = segment.at[d] * c.in_step[d] + offset[d];
          inside = inside && at >= 0 && at < c.in[d];
          base += at * in_strides[d];
        }
        // Columns [from, to) of the segment are inside along the last axis.
        const int64_t start = segment.at[dims - 1] * step + offset[dims - 1];
        int64_t from = start < 0 ? std::min(segment.count, ceil_div(-start, step)) : 0;
        int64_t to = start < extent ? std::min(segment.count, (extent - 1 - start) / step + 1) : 0;
        if (!inside || to < from) from = to = segment.count;
        float* out = panel + static_cast<int64_t>(t) * columns + segment.column;
        const float* in = x + base + start;
        const int64_t next = static_cast<int64_t>(taps) * columns;
        for (int64_t k = 0; k < c.in_group(); ++k, out += next, in += in_plane) {
          for (int64_t j = 0; j < from; ++j) out[j] = 0;
          if (step == 1) {
            std::memcpy(out + from, in + from, static_cast<size_t>(to - from) * sizeof(float));
          } else {
            for (int64_t j = from; j < to; ++j) out[j] = in[j * step];
          }
          for (int64_t j = to; j < segment.count + padding; ++j) out[j] = 0;
        }
      }
    }
  }

  void multiply(const float* left, const float* panel, const float* zeros, int64_t depth,
                int64_t count, int64_t columns, float* out) const {
    static constexpr int64_t kNoOffset[] = {0};
    TileArgs t;
    t.in = left;
    t.runs = kNoOffset;
    t.run_count = 1;
    t.run_length = depth;
    t.weights = panel;
    t.bias = zeros;
    t.out = out;
    t.out_pixel = columns;
    t.out_block = 16;
    functions[static_cast<size_t>((count - 1) * rows.tiles->panel_blocks + columns / 16 - 1)](t);
  }

  // WeightRows of a tile to where they belong.
  void finish(const RunArgs& args, int64_t image, int64_t channel, int64_t count, int64_t columns,
              const Segments& segments, const float* tile) const {
    const Im2colConv& c = rows.conv;
    const int64_t step = c.out_step.back();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t plane = (image * c.out_channels + channel + i) * out_plane;
      const float bias = c.has_bias ? input_of<float>(args, 2)[channel + i] : 0.0f;
      for (size_t s = 0; s < segments.count; ++s) {
        const Segment& segment = segments.list[s];
        const float* from = tile + i * columns + segment.column;
        float* y = output_of<float>(args, 0) + plane + segment.out;
        const float* z = c.has_residual ? input_of<float>(args, 3) + plane + segment.out : nullptr;
        if (!z && !c.activation.on) {
          for (int64_t j = 0; j < segment.count; ++j) y[j * step] = from[j] + bias;
          continue;
        }
        for (int64_t j = 0; j < segment.count; ++j) {
          float value = from[j] + bias;
          if (z) value += z[j * step];
          if (c.activation.on) {  // in this order NaN stays NaN
            value = value < c.activation.min ? c.activation.min : value;
            value = value > c.activation.max ? c.activation.max : value;
          }
          y[j * step] = value;
        }
      }
    }
  }
};

std::vector<int64_t> strides_within(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * extents[d + 1];
  return strides;
}

class GatheredKernel final : public Kernel {
 public:
  GatheredKernel(Im2colConv conv, Im2colRule rule, bool constant, const TileSet& tiles)
      : rows_(std::move(conv), tiles), rule_(rule), constant_(constant) {}

  size_t packed_bytes() const override {
    return constant_ ? static_cast<size_t>(rows_.floats) * sizeof(float) : 0;
  }
  bool packs_input(size_t input) const override { return input == 1 && constant_; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    if (!constant_) return {};
    rows_.pack(reinterpret_cast<const float*>(context.inputs[1].constant.data()),
               reinterpret_cast<float*>(packed.data()));
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(Im2colConv conv, rule_(context));
    const TileSet& tiles = *rows_.tiles;
    auto made = std::make_unique<Im2colPlan>(WeightRows(std::move(conv), tiles));
    const Im2colConv& c = made->rows.conv;
    made->packs_weights = !constant_;
    made->wide = tiles.panel_blocks * 16;
    for (int64_t rows = 1; rows <= tiles.max_pixels; ++rows) {
      for (int64_t blocks = 1; blocks <= tiles.panel_blocks; ++blocks)
        made->functions.push_back(tiles.find(Walk::packed, 1, rows, blocks));
    }
    made->in_plane = element_count(c.in), made->out_plane = element_count(c.out);
    made->in_strides = strides_within(c.in), made->out_strides = strides_within(c.out);
    const auto threads = static_cast<int64_t>(context.target.threads);
    made->threads = context.target.threads;
    int64_t panel_floats = 0, tasks = 0;
    made->first_task = {0};
    for (size_t phase = 0; phase < c.phases.size(); ++phase) {
      const int64_t panels = ceil_div(c.phases[phase].positions(), made->wide);
      const int64_t floats = made->wide * made->rows.phases[phase].depth;
      const int64_t fits = std::clamp<int64_t>(
          kCachedBytes / std::max<int64_t>(1, floats * static_cast<int64_t>(sizeof(float))), 1,
          kMostPanels);
      const int64_t enough = panels * c.batch * c.group / (kIm2colTasksPerThread * threads);
      const int64_t step = std::clamp<int64_t>(enough, 1, fits);
      made->panel_steps.push_back(step);
      made->first_task.push_back(made->first_task.back() + ceil_div(panels, step));
      panel_floats = std::max(panel_floats, step * floats);
    }
    tasks = made->first_task.back() * c.batch * c.group;
    const int64_t pieces =
        std::clamp<int64_t>(kIm2colTasksPerThread * threads / std::max<int64_t>(1, tasks), 1,
                            std::max<int64_t>(1, made->rows.row_tiles()));
    made->tile_step = (made->rows.row_tiles() + pieces - 1) / std::max<int64_t>(1, pieces);
    made->row_pieces =
        (made->rows.row_tiles() + made->tile_step - 1) / std::max<int64_t>(1, made->tile_step);
    const auto round = [](int64_t floats) { return static_cast<size_t>(round_up(floats, 16)); };
    made->scratch_at = round(made->wide + (constant_ ? 0 : made->rows.floats));
    made->tile_at = round(panel_floats);
    made->scratch_floats = made->tile_at + round(tiles.max_pixels * made->wide);
    made->workspace_bytes =
        (made->scratch_at + static_cast<size_t>(threads) * made->scratch_floats) * sizeof(float);
    return std::unique_ptr<KernelPlan>(std::move(made));
  }

 private:
  WeightRows rows_;  // only what does not depend on the input
  Im2colRule rule_;
  bool constant_;
};

}  // namespace

int64_t ConvPhase::positions() const { return element_count(grid); }

void ConvPhase::add(int64_t tap, const std::vector<int64_t>& offset) {
  taps.push_back(tap);
  offsets.insert(offsets.end(), offset.begin(), offset.end());
}

std::vector<int64_t> tap_place(const std::vector<int64_t>& kernel,
                               const std::vector<int64_t>& dilation, int64_t tap) {
  std::vector<int64_t> place(kernel.size());
  for (size_t d = kernel.size(); d-- > 0; tap /= kernel[d])
    place[d] = tap % kernel[d] * dilation[d];
  return place;
}

Status check_im2col(const Im2colConv& conv, Isa isa) {
  if (conv.in.size() > kMostIm2colAxes || conv.phases.size() > kMostPhases) {
    return fail(Code::unsupported_shape, "{} axes and {} phases, takes up to {} and {}",
                conv.in.size(), conv.phases.size(), kMostIm2colAxes, kMostPhases);
  }
  for (const ConvPhase& phase : conv.phases) {
    const int64_t taps = static_cast<int64_t>(phase.taps.size());
    const int64_t bytes = tile_set(isa).panel_blocks * 64;
    if (taps > 0 && conv.in_group() > kMostPanelBytes / bytes / taps) {
      return fail(Code::unsupported_shape, "a window of {} channels and {} taps is too large",
                  conv.in_group(), taps);
    }
  }
  bool known = conv.batch >= 0;
  double products = static_cast<double>(conv.batch * conv.out_channels) *
                    static_cast<double>(conv.in_group() * conv.kernel_taps);
  for (int64_t extent : conv.out) {
    known = known && extent >= 0;
    products *= static_cast<double>(extent);
  }
  if (known && !conv.transposed && products < kFewProducts)
    return fail(Code::unsupported_shape, "takes {} products and more", kFewProducts);
  return {};
}

Result<Im2colConv> im2col_conv_of(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape shape, conv_shape_of(context));
  const Window& w = shape.window;
  Im2colConv conv{.batch = shape.batch,
                  .in_channels = shape.in_channels,
                  .out_channels = shape.out_channels,
                  .group = shape.group,
                  .in = w.in,
                  .out = w.out,
                  .in_step = w.stride,
                  .out_step = std::vector<int64_t>(w.dims(), 1),
                  .kernel_taps = element_count(w.kernel),
                  .has_bias = context.has_input(2),
                  .has_residual = context.has_input(3)};
  ANYNPU_ASSIGN(conv.activation, activation_of(context));
  ConvPhase phase{.grid = w.out, .first = std::vector<int64_t>(w.dims(), 0)};
  for (int64_t tap = 0; tap < conv.kernel_taps; ++tap) {
    std::vector<int64_t> offsets = tap_place(w.kernel, w.dilation, tap);
    for (size_t d = 0; d < w.dims(); ++d) offsets[d] -= w.pad_begin[d];
    phase.add(tap, offsets);
  }
  conv.phases.push_back(std::move(phase));
  return conv;
}

Result<std::unique_ptr<Kernel>> create_im2col(const OpContext& context, Im2colRule rule, Isa isa) {
  ANYNPU_ASSIGN(Im2colConv conv, rule(context));
  return std::unique_ptr<Kernel>(std::make_unique<GatheredKernel>(
      std::move(conv), rule, context.inputs[1].is_constant, tile_set(isa)));
}

}  // namespace anynpu::ops::conv
