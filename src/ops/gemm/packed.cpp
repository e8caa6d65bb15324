// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/packed.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/simd/products.h"
#include "ops/simd/tile.h"

namespace anynpu::ops::gemm {

namespace {

// Rows up to this many are read where they are; more are packed, so that a tile reads one stream.
constexpr int64_t kRowsInPlace = 4;
constexpr int64_t kTasksPerThread = 4;
constexpr int64_t kTilesPerPacking = 4;  // tiles of rows that are worth packing a panel for
constexpr int64_t kPackedStep = 128;     // of k, while a tile of rows is packed
constexpr int64_t kSlice = 64;           // of k, while a constant right side is packed
// Of k that is multiplied at a time: panels of one task then stay in the second-level cache while
// the rows pass by, and the rows of all in the third. Sums go on from y.
constexpr int64_t kChunk = 1024;
constexpr int64_t kCachedPanels = 768 << 10;  // bytes
constexpr int64_t kMostPanels = 6;            // of a task
constexpr int64_t kPrefetchFrom = 1 << 20;    // results beyond are fetched ahead
// Bytes of rows that stay in the second-level cache beside two panels: then panel after panel is
// multiplied by all rows, and the next is fetched meanwhile.
constexpr int64_t kCachedRows = 576 << 10;

// parallel_tasks on up to `threads` threads that tells a task its worker: they count from 0 to
// `threads`, and no two tasks of one run at a time.
template <typename Body>
void parallel_tasks_of_workers(size_t count, size_t threads, const Body& body) {
  std::atomic<size_t> next{0};
  parallel(std::min(count, threads), 1, [&](size_t worker, size_t) {
    for (size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      body(task, worker);
    }
  });
}

// Panels of a part of a matrix: rows from first_row on, panels from first_panel on.
struct PanelBuffer {
  float* at = nullptr;
  int64_t first_panel = 0, first_row = 0, rows = 0;
};

// How one k x n matrix is cut: panels of 16 * panel_blocks columns, [panel][k][columns], the last
// padded with zeros to whole blocks of 16.
struct PanelCut {
  int64_t k = 0, n = 0, panel_blocks = 1;
  const ProductSet* products = nullptr;

  int64_t wide() const { return panel_blocks * 16; }
  int64_t blocks() const { return ceil_div(n, 16); }
  int64_t panels() const { return ceil_div(blocks(), panel_blocks); }
  int64_t blocks_of(int64_t panel) const {
    return std::min(panel_blocks, blocks() - panel * panel_blocks);
  }
  // A line more than its size from panel to panel: a power of two would let rows of all panels
  // share a few places of the caches.
  int64_t step(int64_t rows) const { return wide() * rows + 16; }
  int64_t floats() const { return panels() * step(k); }
  float* find(const PanelBuffer& buffer, int64_t panel, int64_t row) const {
    return buffer.at + (panel - buffer.first_panel) * step(buffer.rows) +
           (row - buffer.first_row) * blocks_of(panel) * 16;
  }

  // Rows [begin, end) of b into the panels [first, last).
  void pack(const float* b, bool transposed, float scale, int64_t begin, int64_t end, int64_t first,
            int64_t last, const PanelBuffer& buffer) const {
    if (n % 16 != 0 && last == panels()) {
      std::fill(find(buffer, last - 1, begin), find(buffer, last - 1, end), 0.0f);
    }
    if (transposed) {
      for (int64_t panel = first; panel < last; ++panel) {
        const int64_t column = panel * wide(), width = blocks_of(panel) * 16;
        products->transpose(b + column * k + begin, k, std::min(width, n - column), end - begin,
                            scale, find(buffer, panel, begin), width);
      }
      return;
    }
    const int64_t whole = std::min(last, n / wide()), next = step(buffer.rows);
    for (int64_t row = begin; row < end; ++row) {
      const float* from = b + row * n;
      float* to =
          buffer.at + (first - buffer.first_panel) * next + (row - buffer.first_row) * wide();
      for (int64_t panel = first; panel < whole; ++panel, to += next) {
        scaled_copy(from + panel * wide(), wide(), scale, to);
      }
      if (whole == last) continue;
      scaled_copy(from + whole * wide(), n - whole * wide(), scale, find(buffer, whole, row));
    }
  }
  // All of b.
  void pack(const float* b, bool transposed, float scale, float* out) const {
    const PanelBuffer buffer{out, 0, 0, k};
    parallel_tasks(static_cast<size_t>(ceil_div(k, kSlice)), [&](size_t slice) {
      const auto begin = static_cast<int64_t>(slice) * kSlice;
      pack(b, transposed, scale, begin, std::min(k, begin + kSlice), 0, panels(), buffer);
    });
  }

 private:
  typedef float Block __attribute__((vector_size(64), aligned(4), may_alias));

  static void scaled_copy(const float* x, int64_t count, float scale, float* y) {
    int64_t j = 0;
    for (; j + 16 <= count; j += 16) {
      *reinterpret_cast<Block*>(y + j) = scale * *reinterpret_cast<const Block*>(x + j);
    }
    for (; j < count; ++j) y[j] = scale * x[j];
  }
};

class PackedGemmPlan final : public KernelPlan {
 public:
  GemmShape g;
  PanelCut cut;
  const TileSet* tiles = nullptr;
  bool packs_a = false, packs_b = false;
  std::vector<TileFunction> functions;   // by rows - 1, then blocks - 1
  RowMap activation_function = nullptr;  // applied to a tile while it is in the cache
  StepsEpilogue epilogue;                // the same
  WidenPanel widen;                      // in place of packing b
  size_t a_offset = 0, b_offset = 0;     // in the workspace, in floats; c begins at 0
  size_t b_floats = 0;                   // of each worker
  int64_t zeros_offset = 0;              // the bias of all chunks of k but the first
  int64_t panel_step = 1, row_tile_step = 1, chunk = kChunk;
  size_t threads = 1;  // at most
  bool rows_stay = false, prefetch_panels = false;

  int64_t row_tiles() const { return ceil_div(g.m, tiles->max_pixels); }
  int64_t first_row(int64_t tile) const { return g.m * tile / row_tiles(); }

  Status run(const RunArgs& args) const override {
    if (g.batch() == 0 || g.m == 0 || g.n == 0) return {};
    float* workspace = reinterpret_cast<float*>(args.workspace);
    fill_c(args, workspace);
    const int64_t panel_tasks = ceil_div(cut.panels(), panel_step);
    const int64_t row_tasks = ceil_div(row_tiles(), row_tile_step);
    for (int64_t k = 0; k == 0 || k < g.k; k += chunk) {
      if (packs_a) pack_a(args, k, workspace + a_offset);
      const auto tasks = static_cast<size_t>(g.batch() * panel_tasks * row_tasks);
      parallel_tasks_of_workers(tasks, threads, [&](size_t task, size_t worker) {
        const auto i = static_cast<int64_t>(task);
        const int64_t batch = i / (panel_tasks * row_tasks);
        const int64_t panel = i / row_tasks % panel_tasks * panel_step;
        const int64_t tile = i % row_tasks * row_tile_step;
        const int64_t last = std::min(row_tiles(), tile + row_tile_step);
        const int64_t end = std::min(cut.panels(), panel + panel_step);
        const PanelBuffer buffer = right_side(args, batch, k, panel, end, worker);
        if (!rows_stay) {
          for (int64_t t = tile; t < last; ++t) {
            for (int64_t p = panel; p < end; ++p) multiply(args, batch, p, t, k, buffer, {});
          }
          return;
        }
        for (int64_t p = panel; p < end; ++p) {
          const float* next = next_panel(args, batch, p, k);
          for (int64_t t = tile; t < last; ++t)
            multiply(args, batch, p, t, k, buffer, {next, t - tile, last - tile});
        }
      });
    }
    return {};
  }

 private:
  // One row of C (or zeros) becomes the bias of the tiles; a whole matrix is laid into Y first.
  void fill_c(const RunArgs& args, float* bias) const {
    std::fill(bias, bias + zeros_offset + cut.panel_blocks * 16, 0.0f);
    if (!g.has_c) return;
    const float* c = reinterpret_cast<const float*>(args.inputs[2]);
    if (g.c_row == 0) {
      for (int64_t j = 0; j < g.n; ++j) bias[j] = g.beta * c[j * g.c_column];
      return;
    }
    float* y = reinterpret_cast<float*>(args.outputs[0]);
    const auto least = static_cast<size_t>(threads == 1 ? g.m : 16);
    parallel(static_cast<size_t>(g.m), least, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        for (int64_t j = 0; j < g.n; ++j) y[i * g.n + j] = g.beta * c[i * g.c_row + j * g.c_column];
      }
    });
  }

  int64_t chunk_from(int64_t k) const { return std::min(chunk, g.k - k); }

  // The panel that follows in this task or, probably, in the next of this thread; null: none.
  const float* next_panel(const RunArgs& args, int64_t batch, int64_t panel, int64_t k) const {
    if (!prefetch_panels) return nullptr;
    int64_t next = panel + 1;
    if (next % panel_step == 0) next += (static_cast<int64_t>(threads) - 1) * panel_step;
    if (next >= cut.panels()) {  // of the next chunk of k
      next %= panel_step;
      k += chunk;
    }
    if (next >= cut.panels() || k >= g.k) return nullptr;
    return cut.find(right_side(args, batch, k, 0, 0, 0), next, k);
  }
  // Each tile of rows fetches a part of it.
  struct Ahead {
    const float* next = nullptr;
    int64_t tile = 0, tiles = 1;
  };

  // The panels [first, last) from row k on: the constant ones, or a worker's own, packed now.
  PanelBuffer right_side(const RunArgs& args, int64_t batch, int64_t k, int64_t first, int64_t last,
                         size_t worker) const {
    if (!packs_b) {
      return {const_cast<float*>(reinterpret_cast<const float*>(args.packed)), 0, 0, g.k};
    }
    const int64_t rows = chunk_from(k);
    float* own = reinterpret_cast<float*>(args.workspace) + b_offset + worker * b_floats;
    const PanelBuffer buffer{own, first, k, rows};
    if (widen) {
      widen_panels(args.packed, k, k + rows, first, last, buffer);
      return buffer;
    }
    cut.pack(reinterpret_cast<const float*>(args.inputs[1]) + g.batch_b[static_cast<size_t>(batch)],
             g.transpose_b, g.alpha, k, k + rows, first, last, buffer);
    return buffer;
  }

  void widen_panels(const std::byte* packed, int64_t begin, int64_t end, int64_t first,
                    int64_t last, const PanelBuffer& buffer) const {
    for (int64_t panel = first; panel < last; ++panel) {
      const int64_t blocks = cut.blocks_of(panel);
      float* to = cut.find(buffer, panel, begin);
      for (int64_t b = 0; b < blocks; ++b)
        widen(packed, panel * cut.panel_blocks + b, begin, end, to + b * 16, blocks * 16);
    }
  }

  // The rows of A from k on for one chunk.
  void pack_a(const RunArgs& args, int64_t k0, float* packed) const {
    const int64_t length = chunk_from(k0);
    const auto tasks = static_cast<size_t>(g.batch() * row_tiles());
    parallel_tasks_of_workers(tasks, threads, [&](size_t task, size_t) {
      const int64_t batch = static_cast<int64_t>(task) / row_tiles();
      const int64_t tile = static_cast<int64_t>(task) % row_tiles();
      const int64_t row = first_row(tile), rows = first_row(tile + 1) - row;
      const float* a =
          reinterpret_cast<const float*>(args.inputs[0]) + g.batch_a[static_cast<size_t>(batch)];
      float* out = packed + (batch * g.m + row) * length;
      for (int64_t from = 0; from < length; from += kPackedStep) {  // what is written stays cached
        const int64_t end = std::min(length, from + kPackedStep);
        if (g.transpose_a) {
          const float* x = a + (k0 + from) * g.m + row;
          for (int64_t k = from; k < end; ++k, x += g.m) std::copy_n(x, rows, out + k * rows);
        } else {
          cut.products->transpose(a + row * g.k + k0 + from, g.k, rows, end - from, 1,
                                  out + from * rows, rows);
        }
      }
    });
  }

  // One tile of rows times one panel, from k on.
  void multiply(const RunArgs& args, int64_t batch, int64_t panel, int64_t tile, int64_t k,
                const PanelBuffer& right, Ahead ahead) const {
    const float* workspace = reinterpret_cast<const float*>(args.workspace);
    const int64_t blocks = cut.blocks_of(panel), column = panel * cut.panel_blocks * 16;
    const int64_t row = first_row(tile), rows = first_row(tile + 1) - row;
    const bool last = k + chunk >= g.k;
    static constexpr int64_t kNoOffset[] = {0};
    TileArgs t;
    t.runs = kNoOffset;
    t.run_count = 1;
    t.run_length = chunk_from(k);
    t.pixel_step = g.k;
    t.in = packs_a ? workspace + a_offset + (batch * g.m + row) * t.run_length
                   : reinterpret_cast<const float*>(args.inputs[0]) +
                         g.batch_a[static_cast<size_t>(batch)] + row * g.k + k;
    t.weights = cut.find(right, panel, k);
    t.bias = workspace + (k == 0 ? column : zeros_offset);
    t.out_pixel = g.n;
    t.out_block = 16;
    t.lanes = std::min<int64_t>(16, g.n - column - (blocks - 1) * 16);
    t.prefetch = g.m * g.n * 4 > kPrefetchFrom;
    fetch_ahead(t, ahead.next, cut.wide(), ahead.tile, ahead.tiles);
    t.clamp = g.activation.on && last;
    t.min = g.activation.min;
    t.max = g.activation.max;
    t.out = reinterpret_cast<float*>(args.outputs[0]) + (batch * g.m + row) * g.n + column;
    if (k > 0 || (g.has_c && g.c_row != 0)) t.residual = t.out;
    if (k == 0 && g.has_z) {
      t.residual = reinterpret_cast<const float*>(args.inputs[3]) +
                   (t.out - reinterpret_cast<const float*>(args.outputs[0]));
    }
    functions[static_cast<size_t>((rows - 1) * tiles->panel_blocks + blocks - 1)](t);
    if (!last || (!activation_function && !epilogue)) return;
    const int64_t columns = std::min(blocks * 16, g.n - column);
    for (int64_t i = 0; i < rows; ++i) {
      float* row = t.out + i * g.n;
      if (activation_function) activation_function(row, row, columns);
      if (epilogue) epilogue.apply(row, columns);
    }
  }
};

PanelCut cut_of(const GemmShape& g, Isa isa) {
  return {g.k, g.n, tile_set(isa).panel_blocks, &product_set(isa)};
}

}  // namespace

void join_batch(GemmShape& g) {
  if (g.transpose_a || g.batch() < 2) return;
  for (int64_t i = 0; i < g.batch(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (g.batch_b[at] != g.batch_b[0] || g.batch_a[at] != i * g.m * g.k) return;
  }
  g.m *= g.batch();
  g.batch_a = g.batch_b = {0};
}

size_t packed_right_bytes(const GemmShape& g, Isa isa) {
  return static_cast<size_t>(cut_of(g, isa).floats()) * sizeof(float);
}

void pack_right_side(const GemmShape& g, Isa isa, const float* b, std::byte* packed) {
  cut_of(g, isa).pack(b, g.transpose_b, g.alpha, reinterpret_cast<float*>(packed));
}

std::unique_ptr<KernelPlan> plan_packed_gemm(GemmShape shape, RightSide right, Isa isa,
                                             size_t threads, StepsEpilogue epilogue,
                                             WidenPanel widen) {
  auto plan = std::make_unique<PackedGemmPlan>();
  plan->widen = std::move(widen);
  plan->epilogue = std::move(epilogue);
  const TileSet& tiles = tile_set(isa);
  plan->g = std::move(shape);
  GemmShape& g = plan->g;
  join_batch(g);
  const PanelCut cut = cut_of(g, isa);
  plan->cut = cut;
  plan->tiles = &tiles;
  plan->threads = threads;
  if (g.activation_function) plan->activation_function = row_set(isa).find(*g.activation_function);
  plan->packs_b = right == RightSide::plain;
  plan->packs_a = g.transpose_a || g.m > kRowsInPlace;
  const Walk walk = plan->packs_a ? Walk::packed : Walk::any;
  for (int64_t rows = 1; rows <= tiles.max_pixels; ++rows) {
    for (int64_t blocks = 1; blocks <= tiles.panel_blocks; ++blocks) {
      plan->functions.push_back(tiles.find(walk, 1, rows, blocks));
    }
  }
  const auto round = [](int64_t floats) { return static_cast<size_t>(round_up(floats, 16)); };
  plan->zeros_offset = cut.blocks() * 16;
  plan->a_offset = round(plan->zeros_offset + cut.panel_blocks * 16);
  // Panels that fit the cache while there are enough of them for all threads; otherwise the rows
  // are cut as well.
  const auto tasks = static_cast<int64_t>(threads) * kTasksPerThread;
  const int64_t panels = std::max<int64_t>(1, g.batch() * cut.panels());
  if (g.k <= kChunk + kChunk / 4) plan->chunk = std::max<int64_t>(1, g.k);
  const int64_t panel_bytes = plan->chunk * cut.panel_blocks * 16 * 4;
  plan->panel_step = std::clamp<int64_t>(kCachedPanels / panel_bytes, 1, kMostPanels);
  plan->panel_step = std::clamp<int64_t>(panels / tasks, 1, plan->panel_step);
  const int64_t groups = ceil_div(panels, plan->panel_step);
  const int64_t pieces = std::max<int64_t>(1, ceil_div(tasks, groups));
  plan->row_tile_step = std::max<int64_t>(1, ceil_div(plan->row_tiles(), pieces));
  if (plan->packs_b) plan->row_tile_step = std::max(plan->row_tile_step, kTilesPerPacking);
  plan->rows_stay = g.m * plan->chunk * 4 <= kCachedRows;
  plan->prefetch_panels = right == RightSide::packed && cut.floats() * 4 > kMostCachedWeights;
  plan->b_offset = plan->a_offset + (plan->packs_a ? round(g.batch() * g.m * plan->chunk) : 0);
  plan->b_floats =
      plan->packs_b ? round(std::min(plan->panel_step, cut.panels()) * cut.step(plan->chunk)) : 0;
  plan->workspace_bytes = (plan->b_offset + threads * plan->b_floats) * sizeof(float);
  plan->in_place_input = g.has_z ? 3 : -1;
  return plan;
}

namespace {

class PackedGemm final : public Kernel {
 public:
  PackedGemm(size_t packed_bytes, Isa isa) : packed_bytes_(packed_bytes), isa_(isa) {}

  size_t packed_bytes() const override { return packed_bytes_; }
  bool packs_input(size_t input) const override { return input == 1 && packed_bytes_ > 0; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    if (packed_bytes_ == 0) return {};
    ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
    pack_right_side(g, isa_, reinterpret_cast<const float*>(context.inputs[1].constant.data()),
                    packed.data());
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(GemmShape g, gemm_shape_of(context));
    const RightSide right = packed_bytes_ > 0 ? RightSide::packed : RightSide::plain;
    ANYNPU_ASSIGN(StepsEpilogue epilogue, StepsEpilogue::of(context, isa_));
    return plan_packed_gemm(std::move(g), right, isa_, context.target.threads, std::move(epilogue));
  }

 private:
  size_t packed_bytes_;  // of a constant B; 0: it is packed in each run
  Isa isa_;
};

}  // namespace

template <Isa isa>
Status can_run_packed_gemm(const OpContext& context) {
  return check_isa(isa);
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_packed_gemm(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
  bool one_b = true;
  for (int64_t offset : g.batch_b) one_b = one_b && offset == g.batch_b[0];
  const bool constant = context.inputs[1].is_constant && one_b;
  return std::unique_ptr<Kernel>(
      std::make_unique<PackedGemm>(constant ? packed_right_bytes(g, isa) : 0, isa));
}

template Status can_run_packed_gemm<Isa::avx512>(const OpContext&);
template Status can_run_packed_gemm<Isa::avx2>(const OpContext&);
template Status can_run_packed_gemm<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_packed_gemm<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_packed_gemm<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_packed_gemm<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::gemm
