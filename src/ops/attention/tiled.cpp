// SPDX-License-Identifier: Apache-2.0
// Attention on register tiles, computed in float32. K and V of each head are packed as the right
// sides of two matrix products; then each task takes a few rows of Q through scores, softmax and
// context, with the scores in a piece of workspace that stays in the cache. Tensors of float16 and
// bfloat16 are widened where they are packed or read, row by row; results are rounded once.
#include <algorithm>
#include <atomic>

#include "ops/attention/attention.h"
#include "ops/cpu/rows.h"
#include "ops/cpu/tile.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops {

namespace {

constexpr int64_t kZero[] = {0};

// Elements of float32, float16 or bfloat16, read as float32.
struct Elements {
  DType type = DType::f32;
  const std::byte* data = nullptr;

  const std::byte* at(int64_t index) const {
    return data + static_cast<size_t>(index) * size_of(type);
  }
  bool are_floats() const { return type == DType::f32; }
  void read(int64_t index, int64_t count, float* to) const {
    if (are_floats()) {
      std::copy_n(floats(index), count, to);
    } else {
      widen(type, at(index), to, static_cast<size_t>(count));
    }
  }
  const float* floats(int64_t index) const { return reinterpret_cast<const float*>(at(index)); }
  // Where they lie when they are float32, else `room` with them in it.
  const float* line(int64_t index, int64_t count, float* room) const {
    if (are_floats()) return floats(index);
    read(index, count, room);
    return room;
  }
};

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

  // A matrix whose rows start `step` elements apart.
  void pack_rows(const Elements& from, int64_t first, int64_t step, float* to) const {
    for (int64_t panel = 0; panel < count(); ++panel) {
      const int64_t column = panel * width(), wide = blocks_of(panel) * 16;
      const int64_t valid = std::min(wide, n - column);
      for (int64_t row = 0; row < k; ++row, to += wide) {
        from.read(first + row * step + column, valid, to);
        std::fill(to + valid, to + wide, 0.0f);
      }
    }
  }

  // A matrix whose columns start `step` elements apart; `room` holds k floats.
  void pack_columns(const Elements& from, int64_t first, int64_t step, float* room,
                    float* to) const {
    for (int64_t panel = 0; panel < count(); ++panel) {
      const int64_t column = panel * width(), wide = blocks_of(panel) * 16;
      const int64_t valid = std::min(wide, n - column);
      for (int64_t j = 0; j < wide; ++j) {
        const float* line = j < valid ? from.line(first + (column + j) * step, k, room) : nullptr;
        for (int64_t row = 0; row < k; ++row) to[row * wide + j] = line ? line[row] : 0.0f;
      }
      to += wide * k;
    }
  }
};

class TiledAttentionPlan final : public KernelPlan {
 public:
  AttentionShape a;
  DType type = DType::f32, mask_type = DType::f32;
  const TileSet* tiles = nullptr;
  const RowSet* rows = nullptr;
  Panels keys, values;
  int64_t scores_step = 0;  // floats of a row of scores
  int64_t result_step = 0;  // of a row of results before they are rounded
  int64_t row_tiles = 1;    // per head
  int64_t tile_step = 1;    // row tiles of a task
  // In floats, from the start of the workspace; the room of a thread, from its own start.
  size_t keys_at = 0, values_at = 0, lines_at = 0, rooms_at = 0, room_floats = 0;
  size_t query_at = 0, mask_at = 0, result_at = 0;

  int64_t first_row(int64_t tile) const { return a.rows * tile / row_tiles; }

  Status run(const RunArgs& args) const override {
    float* work = reinterpret_cast<float*>(args.workspace);
    std::fill(work, work + keys_at, 0.0f);
    const Elements k{type, args.inputs[1]}, v{type, args.inputs[2]};
    parallel_tasks(static_cast<size_t>(a.batch * a.heads), [&](size_t task) {
      const auto head = static_cast<int64_t>(task);
      const int64_t place = head / a.heads * a.columns * a.heads + head % a.heads;
      keys.pack_columns(k, place * a.size, a.heads * a.size,
                        work + lines_at + task * static_cast<size_t>(a.size),
                        work + keys_at + task * size(keys));
      values.pack_rows(v, place * a.value_size, a.heads * a.value_size,
                       work + values_at + task * size(values));
    });
    const int64_t pieces = (row_tiles + tile_step - 1) / tile_step;
    const int64_t tasks = a.batch * a.heads * pieces;
    std::atomic<int64_t> next{0};
    const size_t threads = ThreadPool::instance().threads();
    parallel(threads, 1, [&](size_t slot, size_t) {
      float* room = work + rooms_at + slot * room_floats;
      for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
        const int64_t first = task % pieces * tile_step;
        for (int64_t t = first; t < std::min(row_tiles, first + tile_step); ++t) {
          attend(args, task / pieces, t, room);
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

  void attend(const RunArgs& args, int64_t head, int64_t tile, float* room) const {
    const float* work = reinterpret_cast<const float*>(args.workspace);
    const int64_t b = head / a.heads, h = head % a.heads;
    const int64_t row = first_row(tile), count = first_row(tile + 1) - row;
    const int64_t place = (b * a.rows + row) * a.heads + h;
    const auto at = static_cast<size_t>(head);
    float* scores = room;
    const Elements q{type, args.inputs[0]};
    const bool floats = q.are_floats();
    const float* query = floats ? q.floats(place * a.size) : room + query_at;
    for (int64_t i = 0; i < count && !floats; ++i) {
      q.read((place + i * a.heads) * a.size, a.size, room + query_at + i * a.size);
    }
    multiply(query, floats ? a.heads * a.size : a.size, count, keys,
             work + keys_at + at * size(keys), work, scores, scores_step, false);
    const Elements mask{mask_type, a.has_mask ? args.inputs[3] : nullptr};
    for (int64_t i = 0; i < count; ++i) {
      float* line = scores + i * scores_step;
      const float* added =
          a.has_mask ? mask.line(a.mask_offset(b, h, row + i), a.columns, room + mask_at) : nullptr;
      rows->softmax(line, added, a.scale, line, a.columns);
    }
    const float* packed = work + values_at + at * size(values);
    if (floats) {
      multiply(scores, scores_step, count, values, packed, work,
               output_of<float>(args, 0) + place * a.value_size, a.heads * a.value_size, true);
      return;
    }
    float* result = room + result_at;
    multiply(scores, scores_step, count, values, packed, work, result, result_step, false);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t to = (place + i * a.heads) * a.value_size;
      narrow(type, result + i * result_step,
             args.outputs[0] + static_cast<size_t>(to) * size_of(type),
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
  if (a.has_mask) plan->mask_type = context.inputs[3].dtype;
  plan->tiles = &tile_set(isa);
  plan->rows = &row_set(isa);
  const int64_t wide = plan->tiles->panel_blocks, most = plan->tiles->max_pixels;
  plan->keys = {a.size, a.columns, wide};
  plan->values = {a.columns, a.value_size, wide};
  plan->scores_step = plan->keys.blocks() * 16;
  plan->result_step = plan->values.blocks() * 16;
  plan->row_tiles = std::max<int64_t>(1, (a.rows + most - 1) / most);
  const auto threads = static_cast<int64_t>(ThreadPool::instance().threads());
  const int64_t pieces = std::clamp<int64_t>(4 * threads / std::max<int64_t>(1, a.batch * a.heads),
                                             1, plan->row_tiles);
  plan->tile_step = (plan->row_tiles + pieces - 1) / pieces;
  const auto heads = static_cast<size_t>(a.batch * a.heads);
  plan->keys_at = static_cast<size_t>(wide * 16);  // zeros for the bias of a panel come first
  plan->values_at = plan->keys_at + heads * TiledAttentionPlan::size(plan->keys);
  plan->lines_at = plan->values_at + heads * TiledAttentionPlan::size(plan->values);
  plan->rooms_at = plan->lines_at;
  plan->query_at = plan->mask_at = plan->result_at = plan->room_floats =
      static_cast<size_t>(most * plan->scores_step);
  if (plan->type != DType::f32) {
    plan->rooms_at += heads * static_cast<size_t>(a.size);
    plan->result_at = plan->query_at + static_cast<size_t>(most * a.size);
    plan->mask_at = plan->room_floats =
        plan->result_at + static_cast<size_t>(most * plan->result_step);
  }
  if (plan->mask_type != DType::f32) plan->room_floats += static_cast<size_t>(a.columns);
  plan->workspace_bytes =
      (plan->rooms_at + static_cast<size_t>(threads) * plan->room_floats) * sizeof(float);
  if (element_count(context.outputs[0].shape) == 0) plan->a.batch = 0;
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

template <Isa isa>
Status can_run_tiled_attention(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  if (a.columns == 0) return fail(Code::unsupported_shape, "there is nothing to attend to");
  if (a.has_mask && !kTiledTypes.has(context.inputs[3].dtype)) {
    return fail(Code::unsupported_dtype, "the mask is {}, takes {}",
                name_of(context.inputs[3].dtype), kTiledTypes.to_string());
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

}  // namespace anynpu::ops
