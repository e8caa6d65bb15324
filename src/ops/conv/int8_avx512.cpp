// SPDX-License-Identifier: Apache-2.0
// Convolutions over bytes on register tiles (conv/int8_tile.h). The instruction multiplies unsigned
// by signed bytes: a signed x is moved up by 128, unsigned weights down, and their zero points with
// them. With what is moved called x and w,
//   sum of (x - zx) * (w - zw) = sum of x * w - zx * sum of w + k * zx * zw - zw * sum of x
// holds in int32 that wraps. Only the last term depends on the pixel; it is 0 for weights without a
// zero point, and otherwise a tile of ones finds the sums of x.
#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/conv/int8.h"
#include "ops/conv/int8_planes.h"
#include "ops/conv/int8_tile.h"
#include "ops/parallel.h"
#include "ops/simd/tile_int8.h"

namespace anynpu::ops::conv {

namespace {

constexpr int64_t kTasks = 4;                         // per thread
constexpr int64_t kRoundBytes = int64_t{1} << 20;     // planes of the images of one round
constexpr int64_t kWeightBytes = int64_t{256} << 10;  // weights of a task
constexpr int64_t kSlack = kConv8Widest * 4;          // what the last tile reads past
constexpr uint8_t kMove = 0x80;

// [group][tile][step][row][4], then an int32 for each channel: the sum of its weights. Plans of one
// model share what has one size, so that sizes tell how many dimensions are folded.
struct PackedWeights {
  int64_t groups = 0, group_out = 0, tiles = 0, steps = 0, folded = 0;

  int64_t first_row(int64_t tile) const { return group_out * tile / tiles; }
  int64_t most_rows() const { return ceil_div(group_out, tiles); }
  int64_t tile_at(int64_t group, int64_t tile) const {
    return (group * group_out + first_row(tile)) * steps * 4;
  }
  int64_t sums_at() const { return round_up(groups * group_out * steps * 4, 64); }
  int64_t bytes() const {
    constexpr int64_t kUnit = int64_t{1} << 10;
    const int64_t least = sums_at() + groups * group_out * 4;
    return round_up(least, kUnit) + folded * 64;
  }
  const int32_t* sums(const std::byte* packed) const {
    return reinterpret_cast<const int32_t*>(packed + sums_at());
  }

  void pack(const IntegerConv& conv, const BytePlanes& planes, const uint8_t* weights,
            int64_t group, int64_t tile, std::byte* packed) const {
    const int64_t first = first_row(tile), rows = first_row(tile + 1) - first;
    const uint8_t flip = conv.w_type == DType::u8 ? kMove : 0;
    auto* out = reinterpret_cast<uint8_t*>(packed + tile_at(group, tile));
    int32_t* sums = reinterpret_cast<int32_t*>(packed + sums_at()) + group * group_out + first;
    std::fill(sums, sums + rows, 0);
    const uint8_t* kernel = weights + (group * group_out + first) * conv.group_in * conv.taps;
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t byte = 0; byte < 4; ++byte) {
        const int64_t at = planes.weight_at(step, byte);
        for (int64_t r = 0; r < rows; ++r) {
          const auto value =
              at < 0 ? uint8_t{0}
                     : static_cast<uint8_t>(kernel[r * conv.group_in * conv.taps + at] ^ flip);
          out[(step * rows + r) * 4 + byte] = value;
          sums[r] += static_cast<int8_t>(value);
        }
      }
    }
  }
};

class PackedConvPlan final : public KernelPlan {
 public:
  IntegerConv p;
  BytePlanes planes;
  PackedWeights weights;
  bool packs_weights = false;
  int64_t width = 0;                                                    // pixels of a tile
  int64_t weights_at = 0, planes_at = 0, channels_at = 0, ones_at = 0;  // bytes in the workspace
  int64_t images = 1;                                                   // of one round
  int64_t tile_step = 1, panel_step = 1;                                // of a task

  int64_t panels() const { return ceil_div(planes.positions, width); }

  Status run(const RunArgs& args) const override {
    if (packs_weights) {
      parallel_tasks(static_cast<size_t>(p.groups * weights.tiles), [&](size_t task) {
        const auto at = static_cast<int64_t>(task);
        weights.pack(p, planes, reinterpret_cast<const uint8_t*>(args.inputs[p.weight]),
                     at / weights.tiles, at % weights.tiles, args.workspace + weights_at);
      });
    }
    read_channels(args);
    for (int64_t image = 0; image < p.batch; image += images) {
      const int64_t count = std::min(images, p.batch - image) * p.groups;
      fill(args, image * p.groups, count);
      multiply(args, image * p.groups, count);
    }
    return {};
  }

 private:
  template <typename T>
  static T* place(const RunArgs& args, int64_t at) {
    return reinterpret_cast<T*>(args.workspace + at);
  }
  const std::byte* packed(const RunArgs& args) const {
    return packs_weights ? args.workspace + weights_at : args.packed;
  }
  int64_t x_zero(const RunArgs& args) const {
    return static_cast<int64_t>(p.x_zero.at(args, 0, 0));
  }

  void read_channels(const RunArgs& args) const {
    auto* channels = place<Conv8Channel>(args, channels_at);
    const int32_t* sums = weights.sums(packed(args));
    const int64_t zx = x_zero(args) + (p.x_type == DType::i8 ? 128 : 0);
    for (int64_t m = 0; m < p.channels; ++m) {
      const int64_t zw =
          static_cast<int64_t>(p.w_zero.at(args, m, 0)) - (p.w_type == DType::u8 ? 128 : 0);
      const int64_t add = static_cast<int64_t>(p.bias.at(args, m, 0)) - zx * sums[m] +
                          p.group_in * p.taps * zx * zw;
      channels[m] = {p.linear ? p.factor(args, m) : 1, static_cast<int32_t>(add),
                     static_cast<int32_t>(zw)};
    }
    std::memset(args.workspace + ones_at, 1, static_cast<size_t>(planes.steps() * 4));
  }

  // Planes of `count` groups, counted over all images, from `first` on.
  void fill(const RunArgs& args, int64_t first, int64_t count) const {
    const auto* x = reinterpret_cast<const uint8_t*>(args.inputs[0]);
    const auto pad = static_cast<uint8_t>(x_zero(args));
    const uint8_t flip = p.x_type == DType::i8 ? kMove : 0;
    const int64_t rows = planes.rows();
    const int64_t least = 4096 / planes.grid.back();
    parallel(static_cast<size_t>(count * rows), static_cast<size_t>(least),
             [&](size_t begin, size_t end) {
               for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end);) {
                 const int64_t group = i / rows, from = i - group * rows;
                 const int64_t to = std::min(rows, static_cast<int64_t>(end) - group * rows);
                 planes.fill(x + (first + group) * p.group_in * p.in_size, from, to, pad, flip,
                             place<uint8_t>(args, planes_at) + group * planes.bytes());
                 i = group * rows + to;
               }
             });
  }

  void multiply(const RunArgs& args, int64_t first, int64_t count) const {
    const int64_t tile_parts = ceil_div(weights.tiles, tile_step);
    const int64_t panel_parts = ceil_div(panels(), panel_step);
    parallel_tasks(static_cast<size_t>(count * tile_parts * panel_parts), [&](size_t task) {
      const auto at = static_cast<int64_t>(task);
      const int64_t group = at / (tile_parts * panel_parts);
      const int64_t tile = at / panel_parts % tile_parts * tile_step;
      const int64_t panel = at % panel_parts * panel_step;
      for (int64_t i = panel; i < std::min(panels(), panel + panel_step); ++i) {
        multiply_panel(args, first, group, i, tile, std::min(weights.tiles, tile + tile_step));
      }
    });
  }

  void multiply_panel(const RunArgs& args, int64_t first, int64_t group, int64_t panel,
                      int64_t tile, int64_t tile_end) const {
    alignas(64) int32_t sums[kConv8Rows * 2 * kConv8Lanes];
    alignas(64) int32_t pixel_sums[kConv8Widest];
    BytePlanes::Run runs[kConv8Widest];
    int64_t run_count = 0;
    const int64_t position = panel * width;
    planes.for_each_run(position, std::min(width, planes.positions - position),
                        [&](const BytePlanes::Run& run) { runs[run_count++] = run; });
    Conv8Tile t;
    t.in = place<const uint8_t>(args, planes_at) + group * planes.bytes() + position * 4;
    t.offsets = planes.offsets.data();
    t.steps = planes.steps();
    const int64_t weight_group = (first + group) % p.groups;
    const auto* channels =
        place<const Conv8Channel>(args, channels_at) + weight_group * p.group_out;
    Conv8Store store;
    store.sums_row = width;
    store.out_row = p.out_size;
    store.zero = static_cast<int32_t>(p.y_zero.at(args, 0, 0));
    store.low = p.low(), store.high = p.high();
    bool summed = false;
    for (; tile < tile_end; ++tile) {
      const int64_t row = weights.first_row(tile), rows = weights.first_row(tile + 1) - row;
      t.weights =
          reinterpret_cast<const int8_t*>(packed(args) + weights.tile_at(weight_group, tile));
      t.sums = sums;
      find_conv8_tile(rows, width)(t);
      store.channels = channels + row, store.rows = rows;
      const bool zeros =
          std::any_of(store.channels, store.channels + rows,
                      [](const Conv8Channel& channel) { return channel.weight_zero != 0; });
      if (zeros && !summed) {
        t.weights = place<const int8_t>(args, ones_at);
        t.sums = pixel_sums;
        find_conv8_tile(1, width)(t);
        summed = true;
      }
      const int64_t to = ((first + group) * p.group_out + row) * p.out_size;
      for (int64_t i = 0; i < run_count; ++i) {
        const int64_t from = runs[i].position - position;
        store.sums = sums + from;
        store.pixel_sums = zeros ? pixel_sums + from : nullptr;
        store.count = runs[i].count;
        if (p.linear) {
          store_conv8_bytes(store,
                            reinterpret_cast<uint8_t*>(args.outputs[0]) + to + runs[i].pixel);
        } else {
          store_conv8_sums(store, reinterpret_cast<int32_t*>(args.outputs[0]) + to + runs[i].pixel);
        }
      }
    }
  }
};

class PackedConv final : public Kernel {
 public:
  PackedConv(IntegerConv problem, bool constant)
      : p_(std::move(problem)), planes_(BytePlanes::of(p_)), constant_(constant) {
    weights_ = {p_.groups, p_.group_out, ceil_div(p_.group_out, kConv8Rows), planes_.steps(),
                planes_.folded};
  }

  size_t packed_bytes() const override {
    return constant_ ? static_cast<size_t>(weights_.bytes()) : 0;
  }
  bool packs_input(size_t input) const override { return input == p_.weight && constant_; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    if (!constant_) return {};
    const auto* w = reinterpret_cast<const uint8_t*>(context.inputs[p_.weight].constant.data());
    parallel_tasks(static_cast<size_t>(p_.groups * weights_.tiles), [&](size_t task) {
      const auto at = static_cast<int64_t>(task);
      weights_.pack(p_, planes_, w, at / weights_.tiles, at % weights_.tiles, packed.data());
    });
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    auto plan = std::make_unique<PackedConvPlan>();
    ANYNPU_ASSIGN(plan->p, integer_conv_of(context));
    plan->planes = planes_;
    plan->weights = weights_;
    plan->packs_weights = !constant_;
    plan->width = conv8_width(weights_.most_rows());
    const int64_t image_bytes = p_.groups * planes_.bytes();
    plan->images = std::clamp<int64_t>(kRoundBytes / image_bytes, 1, plan->p.batch);
    plan->planes_at = constant_ ? 0 : round_up(weights_.bytes(), 64);
    plan->channels_at = plan->planes_at + round_up(plan->images * image_bytes + kSlack, 64);
    plan->ones_at =
        plan->channels_at + round_up(p_.channels * static_cast<int64_t>(sizeof(Conv8Channel)), 64);
    plan->workspace_bytes = static_cast<size_t>(plan->ones_at + round_up(planes_.steps() * 4, 64));

    const int64_t tile_bytes = weights_.most_rows() * planes_.steps() * 4;
    plan->tile_step = std::clamp<int64_t>(kWeightBytes / tile_bytes, 1, weights_.tiles);
    const int64_t parts = plan->images * p_.groups * (ceil_div(weights_.tiles, plan->tile_step));
    const auto tasks = static_cast<int64_t>(context.target.threads) * kTasks;
    const int64_t pieces = std::max<int64_t>(1, ceil_div(tasks, parts));
    plan->panel_step = std::max<int64_t>(1, ceil_div(plan->panels(), pieces));
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  IntegerConv p_;
  BytePlanes planes_;
  PackedWeights weights_;
  bool constant_;
};

}  // namespace

// Planes grow with the taps that are folded into them; past this the plain loop reads in place.
Status can_run_packed_conv(const OpContext& context) {
  constexpr double kMostBytes = 4e9, kMostSteps = 1e7;
  ANYNPU_TRY(check_vnni());
  ANYNPU_ASSIGN(const IntegerConv p, integer_conv_of(context));
  if (p.batch * p.channels * p.out_size == 0 || p.group_in * p.in_size == 0) {
    return fail(Code::unsupported_shape, "an operand is empty");
  }
  const double kernel = static_cast<double>(p.group_in) * static_cast<double>(p.taps);
  if (kernel > kMostSteps) {
    return fail(Code::unsupported_shape, "{} weights for each output channel, at most {}", kernel,
                kMostSteps);
  }
  const auto bytes = static_cast<double>(BytePlanes::of(p).bytes());
  if (bytes * static_cast<double>(p.groups) <= kMostBytes) return {};
  return fail(Code::unsupported_shape, "the input would take {} bytes, at most {}",
              bytes * static_cast<double>(p.groups), kMostBytes);
}

Result<std::unique_ptr<Kernel>> create_packed_conv(const OpContext& context) {
  ANYNPU_ASSIGN(IntegerConv problem, integer_conv_of(context));
  const bool constant = context.inputs[problem.weight].is_constant;
  return std::unique_ptr<Kernel>(std::make_unique<PackedConv>(std::move(problem), constant));
}

}  // namespace anynpu::ops::conv
