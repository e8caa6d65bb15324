// SPDX-License-Identifier: Apache-2.0
// Attention of a few rows, as in decoding, which is bound by reading keys and values. All rows that
// share a head of keys are the right side of a product whose left side is the keys in place;
// values are packed piece by piece, so that a piece stays in the cache.
#include <algorithm>

#include "base/align.h"
#include "ops/attention/attention.h"
#include "ops/attention/elements.h"
#include "ops/attention/score_rows.h"
#include "ops/parallel.h"
#include "ops/simd/tile.h"

namespace anynpu::ops::attention {

namespace {

constexpr int64_t kLanes = 16;        // rows that one block of a tile holds
constexpr int64_t kPieceLength = 64;  // of values
constexpr int64_t kStart[] = {0};

int64_t most_rows(const TileSet& tiles) { return std::min(kLanes, tiles.max_pixels); }

class FewRowsPlan final : public KernelPlan {
 public:
  AttentionShape a;
  DType type = DType::f32;
  ScoreRows rows;
  const TileSet* tiles = nullptr;
  int64_t lines_step = 0, result_step = 0;  // floats between rows of scores and of results
  // In floats, from the start of the workspace; the scratch of a thread, from its own start.
  size_t threads = 1, scratch_at = 0, scratch_floats = 0;  // of a thread
  size_t keys_at = 0, products_at = 0, lines_at = 0, values_at = 0, result_at = 0, mask_at = 0;
  PresentWorkspace present;

  Status run(const RunArgs& args) const override {
    float* work = reinterpret_cast<float*>(args.workspace);
    std::fill(work, work + scratch_at, 0.0f);
    const Elements k{a.key.type, join_present(a, a.key, args, args.workspace + present.key_at)};
    const Elements v{a.value.type,
                     join_present(a, a.value, args, args.workspace + present.value_at)};
    parallel_slots(threads, static_cast<size_t>(a.batch * a.kv_heads),
                   [&](size_t task, size_t slot) {
                     const auto head = static_cast<int64_t>(task);
                     attend(args, k, v, head / a.kv_heads, head % a.kv_heads,
                            work + scratch_at + slot * scratch_floats);
                   });
    return {};
  }

 private:
  int64_t count() const { return a.rows * a.group(); }
  // Row i of those that share head g of the keys.
  int64_t head_of(int64_t g, int64_t i) const { return g * a.group() + i / a.rows; }
  int64_t row_of(int64_t i) const { return i % a.rows; }

  void attend(const RunArgs& args, const Elements& k, const Elements& v, int64_t b, int64_t g,
              float* scratch) const {
    const int64_t limit = rows.limit(args, b, a.rows - 1);
    transpose_queries(args, b, g, scratch);
    multiply_keys(args, k, b, g, limit, scratch);
    for (int64_t i = 0; i < count(); ++i) {
      rows.weigh(args, b * a.heads + head_of(g, i), row_of(i), limit, scratch + mask_at,
                 scratch + lines_at + static_cast<size_t>(i * lines_step));
    }
    multiply_values(args, v, b, g, limit, scratch);
    for (int64_t i = 0; i < count(); ++i) {
      const float* result = scratch + result_at + static_cast<size_t>(i * result_step);
      const auto to = static_cast<size_t>(a.y.at(b, head_of(g, i), row_of(i))) * size_of(type);
      const auto length = static_cast<size_t>(a.value_size);
      if (type == DType::f32)
        std::copy_n(result, length, reinterpret_cast<float*>(args.outputs[0] + to));
      else
        narrow(type, result, args.outputs[0] + to, length);
    }
  }

  // The rows of Q as columns of a panel, at the start of the scratch.
  void transpose_queries(const RunArgs& args, int64_t b, int64_t g, float* scratch) const {
    const Elements q{type, args.inputs[0]};
    std::fill_n(scratch, a.size * kLanes, 0.0f);
    for (int64_t i = 0; i < count(); ++i) {
      const float* line = q.line(a.q.at(b, head_of(g, i), row_of(i)), a.size, scratch + keys_at);
      for (int64_t d = 0; d < a.size; ++d) scratch[d * kLanes + i] = line[d];
    }
  }

  // Scores of [0, limit) into the lines.
  void multiply_keys(const RunArgs& args, const Elements& k, int64_t b, int64_t g, int64_t limit,
                     float* scratch) const {
    TileArgs t = tile(args, a.size);
    t.weights = scratch;
    t.out = scratch + products_at;
    t.out_pixel = kLanes;
    for (int64_t at = 0; at < limit; at += tiles->max_pixels) {
      const int64_t n = std::min(tiles->max_pixels, limit - at);
      const int64_t from = a.key.read.at(b, g, at);
      t.in = k.are_floats() ? k.floats(from) : scratch + keys_at;
      t.pixel_step = k.are_floats() ? a.key.read.row : a.size;
      for (int64_t j = 0; j < n && !k.are_floats(); ++j)
        k.read(from + j * a.key.read.row, a.size, scratch + keys_at + j * a.size);
      tiles->find(Walk::any, 1, n, 1)(t);
      float* lines = scratch + lines_at + at;
      for (int64_t i = 0; i < count(); ++i) {
        for (int64_t j = 0; j < n; ++j) lines[i * lines_step + j] = t.out[j * kLanes + i];
      }
    }
  }

  // The weighted sums of values into the results.
  void multiply_values(const RunArgs& args, const Elements& v, int64_t b, int64_t g, int64_t limit,
                       float* scratch) const {
    for (int64_t at = 0; at < limit; at += kPieceLength) {
      const Panels panels{std::min(kPieceLength, limit - at), a.value_size, tiles->panel_blocks};
      panels.pack_rows(v, a.value.read.at(b, g, at), a.value.read.row, scratch + values_at);
      TileArgs t = tile(args, panels.k);
      t.in = scratch + lines_at + at;
      t.pixel_step = lines_step;
      t.out_pixel = result_step;
      for (int64_t panel = 0; panel < panels.count(); ++panel) {
        const int64_t column = panel * panels.width();
        t.weights = scratch + values_at + column * panels.k;
        t.out = scratch + result_at + column;
        t.residual = at > 0 ? t.out : nullptr;
        tiles->find(Walk::any, 1, count(), panels.blocks_of(panel))(t);
      }
    }
  }

  // A product of one run; the zeros at the start of the workspace are its bias.
  static TileArgs tile(const RunArgs& args, int64_t length) {
    TileArgs t;
    t.runs = kStart;
    t.run_count = 1;
    t.run_length = length;
    t.bias = reinterpret_cast<const float*>(args.workspace);
    t.out_block = kLanes;
    return t;
  }
};

template <Isa isa>
PlanResult plan_few_rows(const OpContext& context) {
  auto plan = std::make_unique<FewRowsPlan>();
  ANYNPU_ASSIGN(plan->a, attention_shape_of(context));
  const AttentionShape& a = plan->a;
  plan->type = context.inputs[0].dtype;
  plan->rows = ScoreRows(context, a, isa);
  plan->tiles = &tile_set(isa);
  const int64_t count = a.rows * a.group();
  const auto up = [](int64_t floats) { return round_up(floats, kLanes); };
  plan->lines_step = up(a.columns), plan->result_step = up(a.value_size);
  plan->threads = context.target.threads;
  size_t end = 0;
  const auto place = [&](int64_t floats) {
    const size_t at = end;
    end += static_cast<size_t>(up(floats));
    return at;
  };
  place(a.size * kLanes);  // the queries
  plan->keys_at = place(plan->tiles->max_pixels * a.size);
  plan->products_at = place(plan->tiles->max_pixels * kLanes);
  plan->lines_at = place(count * plan->lines_step);
  plan->values_at = place(kPieceLength * plan->result_step);
  plan->result_at = place(count * plan->result_step);
  plan->mask_at = place(static_cast<int64_t>(plan->rows.mask_floats()));
  plan->scratch_floats = end;
  plan->scratch_at = static_cast<size_t>(plan->tiles->panel_blocks * kLanes);  // the zeros
  const size_t floats = plan->scratch_at + plan->threads * end;
  plan->present = present_workspace(context, a, floats * sizeof(float));
  plan->workspace_bytes = plan->present.end;
  if (element_count(context.outputs[0].shape) == 0) plan->a.batch = 0;
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

template <Isa isa>
Status can_run_few_rows(const OpContext& context) {
  ANYNPU_TRY(can_run_tiled_attention<isa>(context));
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  const int64_t count = a.rows * a.group(), most = most_rows(tile_set(isa));
  if (count >= 1 && count <= most) return {};
  return fail(Code::unsupported_shape, "{} rows share a head of keys, takes 1 to {}", count, most);
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_few_rows(const OpContext& context) {
  return create_plain<plan_few_rows<isa>>(context);
}

template Status can_run_few_rows<Isa::avx512>(const OpContext&);
template Status can_run_few_rows<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_few_rows<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_few_rows<Isa::avx2>(const OpContext&);

}  // namespace anynpu::ops::attention
