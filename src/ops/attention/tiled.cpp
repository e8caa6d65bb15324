// SPDX-License-Identifier: Apache-2.0
// Attention on register tiles: f32. K and V of each head are packed as the right sides of two
// matrix products; then each task takes a few rows of Q through scores, softmax and context, with
// the scores in a piece of workspace that stays in the cache.
#include <algorithm>
#include <atomic>

#include "ops/attention/attention.h"
#include "ops/cpu/rows.h"
#include "ops/cpu/tile.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

namespace {

constexpr int64_t kZero[] = {0};

// Panels of 16 * panel_blocks columns, [panel][k][columns], as gemm/packed.cpp has them.
struct Panels {
  int64_t k = 0, n = 0, panel_blocks = 1;

  int64_t blocks() const { return (n + 15) / 16; }
  int64_t width() const { return panel_blocks * 16; }
  int64_t count() const { return (blocks() + panel_blocks - 1) / panel_blocks; }
  int64_t blocks_of(int64_t panel) const {
    return std::min(panel_blocks, blocks() - panel * panel_blocks);
  }
  int64_t floats() const { return blocks() * 16 * k; }

  // Element (row, column) of the matrix lies at row * row_step + column * column_step.
  void pack(const float* from, int64_t row_step, int64_t column_step, float* to) const {
    for (int64_t panel = 0; panel < count(); ++panel) {
      const int64_t first = panel * width(), wide = blocks_of(panel) * 16;
      const int64_t valid = std::min(wide, n - first);
      for (int64_t row = 0; row < k; ++row, to += wide) {
        const float* x = from + row * row_step + first * column_step;
        if (column_step == 1) {
          std::copy(x, x + valid, to);
        } else {
          for (int64_t j = 0; j < valid; ++j) to[j] = x[j * column_step];
        }
        std::fill(to + valid, to + wide, 0.0f);
      }
    }
  }
};

class TiledAttentionPlan final : public KernelPlan {
 public:
  AttentionShape a;
  const TileSet* tiles = nullptr;
  const RowSet* rows = nullptr;
  Panels keys, values;
  int64_t scores_step = 0;  // floats of a row of scores
  int64_t row_tiles = 1;    // per head
  int64_t tile_step = 1;    // row tiles of a task
  size_t zeros_at = 0, keys_at = 0, values_at = 0, scores_at = 0, scores_floats = 0;

  int64_t first_row(int64_t tile) const { return a.rows * tile / row_tiles; }

  Status run(const RunArgs& args) const override {
    float* work = reinterpret_cast<float*>(args.workspace);
    std::fill(work, work + keys_at, 0.0f);
    parallel_tasks(static_cast<size_t>(a.batch * a.heads), [&](size_t task) {
      const auto head = static_cast<int64_t>(task);
      const int64_t b = head / a.heads, h = head % a.heads;
      const float* k = input_of<float>(args, 1) + (b * a.columns * a.heads + h) * a.size;
      const float* v = input_of<float>(args, 2) + (b * a.columns * a.heads + h) * a.value_size;
      keys.pack(k, 1, a.heads * a.size, work + keys_at + task * size(keys));
      values.pack(v, a.heads * a.value_size, 1, work + values_at + task * size(values));
    });
    const int64_t pieces = (row_tiles + tile_step - 1) / tile_step;
    const int64_t tasks = a.batch * a.heads * pieces;
    std::atomic<int64_t> next{0};
    const size_t threads = ThreadPool::instance().threads();
    parallel(threads, 1, [&](size_t slot, size_t) {
      float* scores = work + scores_at + slot * scores_floats;
      for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
        const int64_t first = task % pieces * tile_step;
        for (int64_t t = first; t < std::min(row_tiles, first + tile_step); ++t) {
          attend(args, task / pieces, t, scores);
        }
      }
    });
    return {};
  }

  static size_t size(const Panels& panels) { return static_cast<size_t>(panels.floats()); }

 private:
  // out[rows][...] = in * panels; `out_step` floats between rows.
  void multiply(const float* in, int64_t in_step, int64_t count, const Panels& panels,
                const float* packed, const float* zeros, float* out, int64_t out_step,
                bool cut) const {
    TileArgs t;
    t.in = in;
    t.runs = kZero;
    t.run_count = 1;
    t.run_length = panels.k;
    t.pixel_step = in_step;
    t.bias = zeros;
    t.out_pixel = out_step;
    t.out_block = 16;
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      const int64_t blocks = panels.blocks_of(panel), column = panel * panels.width();
      t.weights = packed + column * panels.k;
      t.out = out + column;
      t.lanes = cut ? std::min<int64_t>(16, panels.n - column - (blocks - 1) * 16) : 16;
      tiles->find(Walk::any, 1, count, blocks)(t);
    }
  }

  void attend(const RunArgs& args, int64_t head, int64_t tile, float* scores) const {
    const float* work = reinterpret_cast<const float*>(args.workspace);
    const int64_t b = head / a.heads, h = head % a.heads;
    const int64_t row = first_row(tile), count = first_row(tile + 1) - row;
    const auto at = static_cast<size_t>(head);
    const float* q = input_of<float>(args, 0) + ((b * a.rows + row) * a.heads + h) * a.size;
    multiply(q, a.heads * a.size, count, keys, work + keys_at + at * size(keys), work, scores,
             scores_step, false);
    const float* mask = a.has_mask ? input_of<float>(args, 3) : nullptr;
    for (int64_t i = 0; i < count; ++i) {
      float* line = scores + i * scores_step;
      rows->softmax(line, mask ? mask + a.mask_offset(b, h, row + i) : nullptr, a.scale, line,
                    a.columns);
    }
    float* y = output_of<float>(args, 0) + ((b * a.rows + row) * a.heads + h) * a.value_size;
    multiply(scores, scores_step, count, values, work + values_at + at * size(values), work, y,
             a.heads * a.value_size, true);
  }
};

template <Isa isa>
PlanResult plan_tiled(const OpContext& context) {
  auto plan = std::make_unique<TiledAttentionPlan>();
  ANYNPU_ASSIGN(plan->a, attention_shape_of(context));
  const AttentionShape& a = plan->a;
  plan->tiles = &tile_set(isa);
  plan->rows = &row_set(isa);
  const int64_t wide = plan->tiles->panel_blocks, most = plan->tiles->max_pixels;
  plan->keys = {a.size, a.columns, wide};
  plan->values = {a.columns, a.value_size, wide};
  plan->scores_step = plan->keys.blocks() * 16;
  plan->row_tiles = std::max<int64_t>(1, (a.rows + most - 1) / most);
  const auto threads = static_cast<int64_t>(ThreadPool::instance().threads());
  const int64_t pieces = std::clamp<int64_t>(4 * threads / std::max<int64_t>(1, a.batch * a.heads),
                                             1, plan->row_tiles);
  plan->tile_step = (plan->row_tiles + pieces - 1) / pieces;
  const auto heads = static_cast<size_t>(a.batch * a.heads);
  plan->keys_at = static_cast<size_t>(wide * 16);  // zeros for the bias of a panel come first
  plan->values_at = plan->keys_at + heads * TiledAttentionPlan::size(plan->keys);
  plan->scores_at = plan->values_at + heads * TiledAttentionPlan::size(plan->values);
  plan->scores_floats = static_cast<size_t>(most * plan->scores_step);
  plan->workspace_bytes =
      (plan->scores_at + static_cast<size_t>(threads) * plan->scores_floats) * sizeof(float);
  if (element_count(context.outputs[0].shape) == 0) plan->a.batch = 0;
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

template <Isa isa>
Status can_run_tiled_attention(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  if (a.columns == 0) return fail(Code::unsupported_shape, "there is nothing to attend to");
  if (a.has_mask && a.mask_steps[3] == 0 && a.columns != 1) {
    return fail(Code::unsupported_shape, "the mask repeats along its rows");
  }
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_tiled_attention(const OpContext& context) {
  return create_plain<plan_tiled<isa>>(context);
}

template Status can_run_tiled_attention<Isa::avx512>(const OpContext&);
template Status can_run_tiled_attention<Isa::avx2>(const OpContext&);
template Status can_run_tiled_attention<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_tiled_attention<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_tiled_attention<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_tiled_attention<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops
