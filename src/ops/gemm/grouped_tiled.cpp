// SPDX-License-Identifier: Apache-2.0
// GroupedMatMul on register tiles, in float32. A task is a panel of 32 columns (16 on some
// machines) of one group's matrix: it is dequantised and packed once, then multiplied with all rows
// of the group. Weights of groups without rows are not read.
#include <algorithm>

#include "base/align.h"
#include "ops/elements/wide.h"
#include "ops/gemm/grouped.h"
#include "ops/parallel.h"
#include "ops/simd/tile.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kStart[] = {0};
constexpr int64_t kPiece = 64;  // elements of a transposed row that are read at once

class GroupedPlan final : public KernelPlan {
 public:
  GroupedShape g;
  const TileSet* tiles = nullptr;
  std::string label;
  LoadBlock<double> load = nullptr;  // weights that are neither floats nor int8
  bool has_scale = false, has_offset = false, has_bias = false, has_out = false, has_rows = false;

  int64_t width() const { return tiles->panel_blocks * 16; }
  int64_t panels() const { return ceil_div(g.n, width()); }
  // Scratch of a thread in floats: a panel, zeros, part of a row.
  int64_t scratch() const { return g.k * width() + width() + std::max(kPiece, width()); }

  Status run(const RunArgs& args) const override {
    auto* ranges = reinterpret_cast<GroupRange*>(args.workspace);
    ANYNPU_TRY(read_groups(g, args, label, ranges));
    clear_rest(args, ranges);
    parallel_slots(thread_scratch_count, static_cast<size_t>(g.groups * panels()),
                   [&](size_t task, size_t slot) {
                     const auto i = static_cast<int64_t>(task);
                     multiply(args, i / panels(), ranges[i / panels()], i % panels() * width(),
                              reinterpret_cast<float*>(thread_scratch(args, slot)));
                   });
    return {};
  }

 private:
  // Rows of no group. Groups lie behind each other.
  void clear_rest(const RunArgs& args, const GroupRange* ranges) const {
    int64_t end = 0;
    for (int64_t i = 0; i < g.groups; ++i) end = std::max(end, ranges[i].end);
    float* y = output_of<float>(args, 0);
    if (!g.by_columns) std::fill(y + end * g.n, y + g.m * g.n, 0.0f);
  }

  void read(const std::byte* w, int64_t at, int64_t count, float* to) const {
    if (g.weight_type == DType::f32) {
      std::copy_n(reinterpret_cast<const float*>(w) + at, count, to);
    } else if (g.weight_type == DType::i8) {
      const auto* from = reinterpret_cast<const int8_t*>(w) + at;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
    } else if (load) {
      double block[kPiece];
      for (int64_t i = 0; i < count; i += kPiece) {
        const int64_t n = std::min(kPiece, count - i);
        load(w, at + i, 1, block, n);
        for (int64_t j = 0; j < n; ++j) to[i + j] = static_cast<float>(block[j]);
      }
    } else {
      widen(g.weight_type, w + static_cast<size_t>(at) * size_of(g.weight_type), to,
            static_cast<size_t>(count));
    }
  }

  // panel[k][columns], scaled; columns behind the last are 0.
  void pack(const RunArgs& args, int64_t group, const GroupRange& ks, int64_t column, int64_t wide,
            float* panel, float* line) const {
    const std::byte* w =
        args.inputs[kGroupedWeights + static_cast<size_t>(g.stacked || g.by_columns ? 0 : group)];
    const int64_t first = g.stacked ? group * g.k * g.n : 0, valid = std::min(wide, g.n - column);
    if (g.transposed) {
      for (int64_t j = 0; j < wide; ++j) {
        for (int64_t k = 0; k < g.k; k += kPiece) {
          const int64_t n = std::min(kPiece, g.k - k);
          if (j < valid)
            read(w, first + (column + j) * g.k + k, n, line);
          else
            std::fill_n(line, n, 0.0f);
          for (int64_t i = 0; i < n; ++i) panel[(k + i) * wide + j] = line[i];
        }
      }
    } else {
      for (int64_t k = ks.begin; k < ks.end; ++k) {
        float* to = panel + (k - ks.begin) * wide;
        read(w, first + k * g.n + column, valid, to);
        std::fill(to + valid, to + wide, 0.0f);
      }
    }
    if (has_scale || has_offset) scale(args, group, ks, column, wide, valid, panel);
  }

  void scale(const RunArgs& args, int64_t group, const GroupRange& ks, int64_t column, int64_t wide,
             int64_t valid, float* panel) const {
    const int64_t length = g.k / g.parts, step = g.scale_step;
    for (int64_t k = ks.begin; k < ks.end; ++k) {
      const int64_t part = group * g.parts + k / length;
      const int64_t at = step ? part * g.n + column : part;
      float* to = panel + (k - ks.begin) * wide;
      if (has_offset) {
        const float* from = input_of<float>(args, kGroupedOffset) + at;
        for (int64_t j = 0; j < valid; ++j) to[j] += from[j * step];
      }
      if (has_scale) {
        const float* from = input_of<float>(args, kGroupedScale) + at;
        for (int64_t j = 0; j < valid; ++j) to[j] *= from[j * step];
      }
    }
  }

  void multiply(const RunArgs& args, int64_t group, const GroupRange& range, int64_t column,
                float* panel) const {
    const GroupRange rows = g.by_columns ? GroupRange{0, g.m} : range;
    const GroupRange ks = g.by_columns ? range : GroupRange{0, g.k};
    if (rows.begin >= rows.end) return;
    const int64_t blocks = std::min(tiles->panel_blocks, ceil_div(g.n - column, int64_t{16}));
    const int64_t wide = blocks * 16, valid = std::min(wide, g.n - column);
    float *zeros = panel + g.k * width(), *line = zeros + width();
    std::fill_n(zeros, width(), 0.0f);
    pack(args, group, ks, column, wide, panel, line);
    float* y = output_of<float>(args, 0) + (g.by_columns ? group * g.m * g.n : 0);
    TileArgs t;
    t.runs = kStart;
    t.run_count = 1;
    t.run_length = ks.end - ks.begin;
    t.pixel_step = g.k;
    t.weights = panel;
    t.bias = zeros;
    t.out_pixel = g.n;
    t.out_block = 16;
    t.lanes = valid - (blocks - 1) * 16;
    for (int64_t row = rows.begin; row < rows.end; row += tiles->max_pixels) {
      const int64_t count = std::min(tiles->max_pixels, rows.end - row);
      t.in = input_of<float>(args, 0) + row * g.k + ks.begin;
      t.out = y + row * g.n + column;
      tiles->find(Walk::any, 1, count, blocks)(t);
      for (int64_t i = 0; i < count; ++i)
        finish(args, group, row + i, column, valid, t.out + i * g.n);
    }
  }

  void finish(const RunArgs& args, int64_t group, int64_t row, int64_t column, int64_t valid,
              float* y) const {
    const auto bias = [&] {
      const float* from = input_of<float>(args, kGroupedBias) + group * g.n + column;
      for (int64_t j = 0; j < valid; ++j) y[j] += from[j];
    };
    if (has_bias && !g.bias_last) bias();
    if (has_out) {
      const int64_t step = g.out_scale_step;
      const float* from =
          input_of<float>(args, kGroupedOutScale) + (step ? group * g.n + column : group);
      for (int64_t j = 0; j < valid; ++j) y[j] *= from[j * step];
    }
    if (has_rows) {
      const float factor = input_of<float>(args, kGroupedRowScale)[row];
      for (int64_t j = 0; j < valid; ++j) y[j] *= factor;
    }
    if (has_bias && g.bias_last) bias();
  }
};

template <Isa isa>
PlanResult plan_grouped(const OpContext& context) {
  auto plan = std::make_unique<GroupedPlan>();
  ANYNPU_ASSIGN(plan->g, grouped_shape_of(context));
  const GroupedShape& g = plan->g;
  plan->tiles = &tile_set(isa);
  plan->label = context.label();
  const bool fast = g.weight_type == DType::f32 || g.weight_type == DType::f16 ||
                    g.weight_type == DType::bf16 || g.weight_type == DType::i8;
  if (!fast) plan->load = load_block<double>(g.weight_type);
  plan->has_scale = context.has_input(kGroupedScale);
  plan->has_offset = context.has_input(kGroupedOffset);
  plan->has_bias = context.has_input(kGroupedBias);
  plan->has_out = context.has_input(kGroupedOutScale);
  plan->has_rows = context.has_input(kGroupedRowScale);
  plan->workspace_bytes = static_cast<size_t>(g.groups) * sizeof(GroupRange);
  const auto tasks = static_cast<size_t>(g.groups * plan->panels());
  plan->add_thread_scratch(std::clamp<size_t>(tasks, 1, context.target.threads),
                           static_cast<size_t>(plan->scratch()) * sizeof(float));
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

template <Isa isa>
Status can_run_grouped(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  const DType type = context.inputs[kGroupedWeights].dtype;
  if (type == DType::f64 || type == DType::i32)
    return fail(Code::unsupported_dtype, "weights are {}", name_of(type));
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_grouped(const OpContext& context) {
  return create_plain<plan_grouped<isa>>(context);
}

template Status can_run_grouped<Isa::avx512>(const OpContext&);
template Status can_run_grouped<Isa::avx2>(const OpContext&);
template Status can_run_grouped<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_grouped<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_grouped<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_grouped<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::gemm
