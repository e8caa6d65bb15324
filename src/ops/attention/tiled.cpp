// SPDX-License-Identifier: Apache-2.0
// Attention on register tiles, computed in float32. K and V of each head are packed as the right
// sides of two matrix products; then each task takes a few rows of Q through scores, softmax and
// context, with the scores in a piece of workspace that stays in the cache. Keys behind the last
// that a task's rows see are left out. Tensors of float16 and bfloat16 are widened where they are
// packed or read, row by row; results are rounded once.
#include <algorithm>

#include "base/align.h"
#include "ops/attention/attention.h"
#include "ops/attention/elements.h"
#include "ops/attention/score_rows.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/simd/tile.h"

namespace anynpu::ops::attention {

namespace {

constexpr int64_t kZero[] = {0};

class TiledAttentionPlan final : public KernelPlan {
 public:
  AttentionShape a;
  DType type = DType::f32;
  ScoreRows rows;
  const TileSet* tiles = nullptr;
  Panels keys, values;
  int64_t scores_step = 0;  // floats of a row of scores
  int64_t result_step = 0;  // of a row of results before they are rounded
  int64_t row_tiles = 1;    // per head
  int64_t tile_step = 1;    // row tiles of a task
  // In floats, from the start of the workspace; the scratch of a thread, from its own start.
  size_t keys_at = 0, values_at = 0, lines_at = 0;
  size_t query_at = 0, mask_at = 0, result_at = 0;
  PresentWorkspace present;

  int64_t first_row(int64_t tile) const { return a.rows * tile / row_tiles; }

  Status run(const RunArgs& args) const override {
    float* work = reinterpret_cast<float*>(args.workspace);
    std::fill(work, work + keys_at, 0.0f);
    const Elements k{a.key.type, join_present(a, a.key, args, args.workspace + present.key_at)};
    const Elements v{a.value.type,
                     join_present(a, a.value, args, args.workspace + present.value_at)};
    parallel_tasks(static_cast<size_t>(a.batch * a.kv_heads), [&](size_t task) {
      const auto head = static_cast<int64_t>(task);
      const int64_t b = head / a.kv_heads, h = head % a.kv_heads;
      keys.pack_columns(k, a.key.read.at(b, h, 0), a.key.read.row,
                        work + lines_at + task * static_cast<size_t>(a.size),
                        work + keys_at + task * size(keys));
      values.pack_rows(v, a.value.read.at(b, h, 0), a.value.read.row,
                       work + values_at + task * size(values));
    });
    const int64_t pieces = ceil_div(row_tiles, tile_step);
    parallel_slots(thread_scratch_count, static_cast<size_t>(a.batch * a.heads * pieces),
                   [&](size_t task, size_t slot) {
                     const auto i = static_cast<int64_t>(task);
                     const int64_t first = i % pieces * tile_step;
                     for (int64_t t = first; t < std::min(row_tiles, first + tile_step); ++t)
                       attend(args, i / pieces, t,
                              reinterpret_cast<float*>(thread_scratch(args, slot)));
                   });
    return {};
  }

  static size_t size(const Panels& panels) { return static_cast<size_t>(panels.floats()); }

 private:
  // out[rows][...] = in * panels, of which the first `depth` rows and `columns` columns count;
  // `out_step` floats between rows.
  struct Product {
    int64_t count = 0, depth = 0, columns = 0, in_step = 0, out_step = 0;
    bool cut = false;  // nothing is written behind the last column
  };
  void multiply(const Product& p, const float* in, const Panels& panels, const float* packed,
                const float* zeros, float* out) const {
    TileArgs t;
    t.in = in;
    t.runs = kZero;
    t.run_count = 1;
    t.run_length = p.depth;
    t.pixel_step = p.in_step;
    t.bias = zeros;
    t.out_pixel = p.out_step;
    t.out_block = 16;
    for (int64_t panel = 0; panel * panels.width() < p.columns; ++panel) {
      const int64_t blocks = panels.blocks_of(panel), column = panel * panels.width();
      t.weights = packed + column * panels.k;
      t.out = out + column;
      t.lanes = p.cut ? std::min<int64_t>(16, panels.n - column - (blocks - 1) * 16) : 16;
      tiles->find(Walk::any, 1, p.count, blocks)(t);
    }
  }

  void attend(const RunArgs& args, int64_t head, int64_t tile, float* scratch) const {
    const float* work = reinterpret_cast<const float*>(args.workspace);
    const int64_t b = head / a.heads, h = head % a.heads;
    const int64_t row = first_row(tile), count = first_row(tile + 1) - row;
    const auto at = static_cast<size_t>(b * a.kv_heads + h / a.group());
    const int64_t limit = rows.limit(args, b, row + count - 1);
    float* scores = scratch;
    const Elements q{type, args.inputs[0]};
    const bool floats = q.are_floats();
    const int64_t place = a.q.at(b, h, row);
    const float* query = floats ? q.floats(place) : scratch + query_at;
    for (int64_t i = 0; i < count && !floats; ++i) {
      q.read(place + i * a.q.row, a.size, scratch + query_at + i * a.size);
    }
    multiply({count, a.size, limit, floats ? a.q.row : a.size, scores_step}, query, keys,
             work + keys_at + at * size(keys), work, scores);
    for (int64_t i = 0; i < count; ++i)
      rows.weigh(args, head, row + i, limit, scratch + mask_at, scores + i * scores_step);
    const float* packed = work + values_at + at * size(values);
    Product product{count, limit, a.value_size, scores_step, a.y.row, true};
    const int64_t to = a.y.at(b, h, row);
    if (floats)
      return multiply(product, scores, values, packed, work, output_of<float>(args, 0) + to);
    float* result = scratch + result_at;
    product.out_step = result_step, product.cut = false;
    multiply(product, scores, values, packed, work, result);
    for (int64_t i = 0; i < count; ++i) {
      narrow(type, result + i * result_step,
             args.outputs[0] + static_cast<size_t>(to + i * a.y.row) * size_of(type),
             static_cast<size_t>(a.value_size));
    }
  }
};

template <Isa isa>
PlanResult plan_tiled(const OpContext& context) {
  auto plan = std::make_unique<TiledAttentionPlan>();
  ANYNPU_ASSIGN(plan->a, attention_shape_of(context));
  const AttentionShape& a = plan->a;
  plan->type = context.inputs[0].dtype;
  plan->rows = ScoreRows(context, a, isa);
  plan->tiles = &tile_set(isa);
  const int64_t wide = plan->tiles->panel_blocks, most = plan->tiles->max_pixels;
  plan->keys = {a.size, a.columns, wide};
  plan->values = {a.columns, a.value_size, wide};
  plan->scores_step = plan->keys.blocks() * 16;
  plan->result_step = plan->values.blocks() * 16;
  plan->row_tiles = std::max<int64_t>(1, ceil_div(a.rows, most));
  const auto threads = static_cast<int64_t>(context.target.threads);
  const int64_t pieces = std::clamp<int64_t>(4 * threads / std::max<int64_t>(1, a.batch * a.heads),
                                             1, plan->row_tiles);
  plan->tile_step = ceil_div(plan->row_tiles, pieces);
  const auto heads = static_cast<size_t>(a.batch * a.kv_heads);
  plan->keys_at = static_cast<size_t>(wide * 16);  // zeros for the bias of a panel come first
  plan->values_at = plan->keys_at + heads * TiledAttentionPlan::size(plan->keys);
  plan->lines_at = plan->values_at + heads * TiledAttentionPlan::size(plan->values);
  size_t end = plan->lines_at, scratch = static_cast<size_t>(most * plan->scores_step);
  if (a.key.type != DType::f32) end += heads * static_cast<size_t>(a.size);
  plan->query_at = plan->mask_at = plan->result_at = scratch;
  if (plan->type != DType::f32) {
    plan->result_at = plan->query_at + static_cast<size_t>(most * a.size);
    plan->mask_at = scratch = plan->result_at + static_cast<size_t>(most * plan->result_step);
  }
  scratch += plan->rows.mask_floats();
  plan->present = present_workspace(context, a, end * sizeof(float));
  plan->workspace_bytes = plan->present.end;
  plan->add_thread_scratch(static_cast<size_t>(threads), scratch * sizeof(float));
  if (element_count(context.outputs[0].shape) == 0) plan->a.batch = 0;
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

template <Isa isa>
Status can_run_tiled_attention(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  if (a.columns == 0) return fail(Code::unsupported_shape, "there is nothing to attend to");
  if (!kTiledTypes.has(a.value.type)) {
    return fail(Code::unsupported_dtype, "V is {}, takes {}", name_of(a.value.type),
                kTiledTypes.to_string());
  }
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

}  // namespace anynpu::ops::attention
