// SPDX-License-Identifier: Apache-2.0
// Attention on register tiles, computed in float32. K and V of each head are packed as the right
// sides of two matrix products; then each task takes a few rows of Q through scores, softmax and
// context, with the scores in a piece of workspace that stays in the cache. Keys behind the last
// that a task's rows see are left out. Tensors of float16 and bfloat16 are widened where they are
// packed or read, row by row; results are rounded once.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "ops/attention/attention.h"
#include "ops/block/wide.h"
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
  LoadBlock<double> load_mask = nullptr;  // for masks that are no short floats
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
  size_t present_key_at = 0, present_value_at = 0;

  int64_t first_row(int64_t tile) const { return a.rows * tile / row_tiles; }

  Status run(const RunArgs& args) const override {
    float* work = reinterpret_cast<float*>(args.workspace);
    const auto at = [&](size_t floats) { return reinterpret_cast<std::byte*>(work + floats); };
    std::fill(work, work + keys_at, 0.0f);
    const Elements k{a.key.type, join_present(a, a.key, args, at(present_key_at))};
    const Elements v{a.value.type, join_present(a, a.value, args, at(present_value_at))};
    parallel_tasks(static_cast<size_t>(a.batch * a.kv_heads), [&](size_t task) {
      const auto head = static_cast<int64_t>(task);
      const int64_t b = head / a.kv_heads, h = head % a.kv_heads;
      keys.pack_columns(k, a.key.read.at(b, h, 0), a.key.read.row,
                        work + lines_at + task * static_cast<size_t>(a.size),
                        work + keys_at + task * size(keys));
      values.pack_rows(v, a.value.read.at(b, h, 0), a.value.read.row,
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

  // What is added to the scores of a row, where it lies or in `room`.
  const float* mask_line(const RunArgs& args, int64_t b, int64_t h, int64_t row,
                         float* room) const {
    const int64_t from = a.mask_offset(b, h, row);
    if (kTiledTypes.has(mask_type))
      return Elements{mask_type, args.inputs[3]}.line(from, a.mask_columns, room);
    double part[kBlockLength];
    for (int64_t at = 0; at < a.mask_columns; at += kBlockLength) {
      const int64_t n = std::min(kBlockLength, a.mask_columns - at);
      load_mask(args.inputs[3], from + at, 1, part, n);
      for (int64_t i = 0; i < n; ++i) {
        room[at + i] = mask_type != DType::boolean ? static_cast<float>(part[i])
                       : part[i] != 0              ? 0.0f
                                                   : -INFINITY;
      }
    }
    return room;
  }

  void emit(const RunArgs& args, Scores stage, int64_t head, int64_t row, const float* line) const {
    if (a.scores != stage) return;
    const int64_t at = (head * a.rows + row) * a.columns;
    if (type == DType::f32) {
      std::copy_n(line, a.columns, output_of<float>(args, 3) + at);
    } else {
      narrow(type, line, args.outputs[3] + static_cast<size_t>(at) * size_of(type),
             static_cast<size_t>(a.columns));
    }
  }

  // Products of a row become weights; those of [0, limit) are valid afterwards.
  void weigh(const RunArgs& args, int64_t head, int64_t row, int64_t limit, float* room,
             float* line) const {
    const int64_t b = head / a.heads, h = head % a.heads;
    float scale = a.scale;
    if (a.softcap > 0 || a.scores != Scores::none) {
      for (int64_t j = 0; j < limit; ++j) line[j] *= scale;
      scale = 1;
      emit(args, Scores::product, head, row, line);
    }
    if (a.softcap > 0) {
      for (int64_t j = 0; j < limit; ++j) line[j] /= a.softcap;
      rows->find(RowFunction::tanh)(line, line, limit);
      for (int64_t j = 0; j < limit; ++j) line[j] *= a.softcap;
    }
    emit(args, Scores::capped, head, row, line);
    const KeyRange range = a.keys_of(b, row, a.has_lengths ? input_of<int64_t>(args, 6) : nullptr);
    const int64_t first = std::min(range.first, limit), last = std::max(range.last, first);
    const float* added = a.has_mask ? mask_line(args, b, h, row, room + mask_at) : nullptr;
    bool shut = last <= first;
    if (added && a.zero_if_shut)
      shut = std::all_of(added + first, added + last, [](float x) { return x == -INFINITY; });
    if (a.scores == Scores::masked) {
      std::fill_n(line, first, -INFINITY);
      for (int64_t j = first; added && j < last; ++j) line[j] += added[j];
      std::fill(line + last, line + limit, -INFINITY);
      emit(args, Scores::masked, head, row, line);
      added = nullptr;
    }
    if (shut) {
      std::fill_n(line, limit, 0.0f);
    } else {
      std::fill_n(line, first, 0.0f);
      rows->softmax(line + first, added ? added + first : nullptr, scale, line + first,
                    last - first);
      std::fill(line + last, line + limit, 0.0f);
    }
    emit(args, Scores::weights, head, row, line);
  }

  void attend(const RunArgs& args, int64_t head, int64_t tile, float* room) const {
    const float* work = reinterpret_cast<const float*>(args.workspace);
    const int64_t b = head / a.heads, h = head % a.heads;
    const int64_t row = first_row(tile), count = first_row(tile + 1) - row;
    const auto at = static_cast<size_t>(b * a.kv_heads + h / a.group());
    // Later rows see no fewer keys at the end.
    const int64_t* lengths = a.has_lengths ? input_of<int64_t>(args, 6) : nullptr;
    const int64_t seen = std::max<int64_t>(1, a.keys_of(b, row + count - 1, lengths).last);
    const int64_t limit = a.scores == Scores::none ? seen : a.columns;
    float* scores = room;
    const Elements q{type, args.inputs[0]};
    const bool floats = q.are_floats();
    const int64_t place = a.q.at(b, h, row);
    const float* query = floats ? q.floats(place) : room + query_at;
    for (int64_t i = 0; i < count && !floats; ++i) {
      q.read(place + i * a.q.row, a.size, room + query_at + i * a.size);
    }
    multiply({count, a.size, limit, floats ? a.q.row : a.size, scores_step}, query, keys,
             work + keys_at + at * size(keys), work, scores);
    for (int64_t i = 0; i < count; ++i)
      weigh(args, head, row + i, limit, room, scores + i * scores_step);
    const float* packed = work + values_at + at * size(values);
    Product product{count, limit, a.value_size, scores_step, a.y.row, true};
    const int64_t to = a.y.at(b, h, row);
    if (floats)
      return multiply(product, scores, values, packed, work, output_of<float>(args, 0) + to);
    float* result = room + result_at;
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
  if (a.has_mask) plan->mask_type = context.inputs[3].dtype;
  plan->load_mask = load_block<double>(plan->mask_type);
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
  const auto heads = static_cast<size_t>(a.batch * a.kv_heads);
  plan->keys_at = static_cast<size_t>(wide * 16);  // zeros for the bias of a panel come first
  plan->values_at = plan->keys_at + heads * TiledAttentionPlan::size(plan->keys);
  plan->lines_at = plan->values_at + heads * TiledAttentionPlan::size(plan->values);
  plan->rooms_at = plan->lines_at;
  if (a.key.type != DType::f32) plan->rooms_at += heads * static_cast<size_t>(a.size);
  plan->query_at = plan->mask_at = plan->result_at = plan->room_floats =
      static_cast<size_t>(most * plan->scores_step);
  if (plan->type != DType::f32) {
    plan->result_at = plan->query_at + static_cast<size_t>(most * a.size);
    plan->mask_at = plan->room_floats =
        plan->result_at + static_cast<size_t>(most * plan->result_step);
  }
  if (plan->mask_type != DType::f32) plan->room_floats += static_cast<size_t>(a.mask_columns);
  plan->present_key_at = plan->rooms_at + static_cast<size_t>(threads) * plan->room_floats;
  plan->present_value_at = plan->present_key_at + present_room(context, a, a.key) / sizeof(float);
  plan->workspace_bytes =
      plan->present_value_at * sizeof(float) + present_room(context, a, a.value);
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

}  // namespace anynpu::ops
