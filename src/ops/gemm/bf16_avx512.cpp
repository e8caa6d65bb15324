// SPDX-License-Identifier: Apache-2.0
// Matrix products of bfloat16 on register tiles of AVX512-BF16 (simd/tile_bf16.h): sums in f32, one
// rounding. K is padded with a zero to pairs.
#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/gemm/packed.h"
#include "ops/parallel.h"
#include "ops/simd/tile_bf16.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kWidth = kBf16Blocks * 16;  // columns of a panel
constexpr int64_t kBf16Tasks = 4;             // per thread
constexpr int64_t kPairsStep = 128;           // of k / 2, while a tile of rows is packed

// Right sides: [panel][k / 2][columns][2], the last panel padded to whole blocks of 16 columns.
struct Bf16Panels {
  int64_t k = 0, n = 0;

  int64_t pairs() const { return (k + 1) / 2; }
  int64_t blocks() const { return ceil_div(n, 16); }
  int64_t count() const { return ceil_div(blocks(), kBf16Blocks); }
  int64_t blocks_of(int64_t panel) const {
    return std::min(kBf16Blocks, blocks() - panel * kBf16Blocks);
  }
  int64_t offset(int64_t panel) const { return panel * kWidth * pairs() * 2; }
  int64_t elements() const { return blocks() * 16 * pairs() * 2; }

  void pack(const BF16* b, bool transposed, float scale, int64_t panel, BF16* out) const {
    const int64_t first = panel * kWidth, width = blocks_of(panel) * 16;
    const int64_t valid = std::min(width, n - first);
    if (valid < width || k % 2 != 0) std::fill(out, out + pairs() * width * 2, BF16{});
    if (transposed) {
      for (int64_t j = 0; j < valid; ++j) {
        const BF16* x = b + (first + j) * k;
        for (int64_t p = 0; p < k / 2; ++p) std::memcpy(out + (p * width + j) * 2, x + p * 2, 4);
        if (k % 2 != 0) out[(k / 2 * width + j) * 2] = x[k - 1];
      }
    } else {
      for (int64_t p = 0; p < k / 2; ++p) {
        const BF16* x = b + p * 2 * n + first;
        interleave(x, x + n, valid, out + p * width * 2);
      }
      for (int64_t j = 0; k % 2 != 0 && j < valid; ++j) {
        out[(k / 2 * width + j) * 2] = b[(k - 1) * n + first + j];
      }
    }
    if (scale == 1) return;
    for (int64_t i = 0; i < pairs() * width * 2; ++i) out[i] = to_bf16(to_float(out[i]) * scale);
  }

 private:
  // Loops of a fixed length become vector instructions.
  static void interleave(const BF16* even, const BF16* odd, int64_t count, BF16* out) {
    int64_t j = 0;
    for (; j + 16 <= count; j += 16) {
      uint32_t both[16];
      for (int64_t lane = 0; lane < 16; ++lane) {
        both[lane] = even[j + lane].bits | static_cast<uint32_t>(odd[j + lane].bits) << 16;
      }
      std::memcpy(out + j * 2, both, sizeof(both));
    }
    for (; j < count; ++j) {
      out[j * 2] = even[j];
      out[j * 2 + 1] = odd[j];
    }
  }
};

class Bf16GemmPlan final : public KernelPlan {
 public:
  GemmShape g;
  Bf16Panels panels;
  bool packs_b = false;
  RowMap activation_function = nullptr;
  size_t a_at = 0, b_at = 0;  // bytes in the workspace; the bias begins at 0
  int64_t tile_step = 1;      // row tiles of a task

  int64_t row_tiles() const { return ceil_div(g.m, kBf16Pixels); }
  int64_t first_row(int64_t tile) const { return g.m * tile / row_tiles(); }

  Status run(const RunArgs& args) const override {
    if (g.batch() == 0 || g.m == 0 || g.n == 0) return {};
    fill_bias(args);
    pack_a(args);
    if (packs_b) {
      parallel_tasks(static_cast<size_t>(g.batch() * panels.count()), [&](size_t task) {
        const auto batch = static_cast<int64_t>(task) / panels.count();
        const int64_t panel = static_cast<int64_t>(task) % panels.count();
        panels.pack(
            reinterpret_cast<const BF16*>(args.inputs[1]) + g.batch_b[static_cast<size_t>(batch)],
            g.transpose_b, g.alpha, panel,
            at<BF16>(args, b_at) + batch * panels.elements() + panels.offset(panel));
      });
    }
    const int64_t pieces = ceil_div(row_tiles(), tile_step);
    parallel_tasks(static_cast<size_t>(g.batch() * panels.count() * pieces), [&](size_t task) {
      const auto i = static_cast<int64_t>(task);
      const int64_t tile = i % pieces * tile_step;
      multiply(args, i / (panels.count() * pieces), i / pieces % panels.count(), tile,
               std::min(row_tiles(), tile + tile_step));
    });
    return {};
  }

 private:
  template <typename T>
  static T* at(const RunArgs& args, size_t offset) {
    return reinterpret_cast<T*>(args.workspace + offset);
  }

  void fill_bias(const RunArgs& args) const {
    float* bias = at<float>(args, 0);
    std::fill(bias, bias + panels.blocks() * 16, 0.0f);
    if (!g.has_c) return;
    const BF16* c = reinterpret_cast<const BF16*>(args.inputs[2]);
    for (int64_t j = 0; j < g.n; ++j) bias[j] = g.beta * to_float(c[j * g.c_column]);
  }

  // [tile][k / 2][row][2].
  void pack_a(const RunArgs& args) const {
    const int64_t pairs = panels.pairs();
    parallel_tasks(static_cast<size_t>(g.batch() * row_tiles()), [&](size_t task) {
      const int64_t batch = static_cast<int64_t>(task) / row_tiles();
      const int64_t tile = static_cast<int64_t>(task) % row_tiles();
      const int64_t row = first_row(tile), rows = first_row(tile + 1) - row;
      const BF16* a =
          reinterpret_cast<const BF16*>(args.inputs[0]) + g.batch_a[static_cast<size_t>(batch)];
      BF16* out = at<BF16>(args, a_at) + (batch * g.m + row) * pairs * 2;
      const int64_t step = g.transpose_a ? g.m : 1;
      for (int64_t from = 0; from < pairs; from += kPairsStep) {  // what is written stays cached
        const int64_t end = std::min(g.k / 2, from + kPairsStep);
        for (int64_t i = 0; i < rows; ++i) {
          const BF16* x = g.transpose_a ? a + row + i : a + (row + i) * g.k;
          if (step == 1) {
            for (int64_t k = from; k < end; ++k)
              std::memcpy(out + (k * rows + i) * 2, x + 2 * k, 4);
            continue;
          }
          for (int64_t k = from; k < end; ++k) {
            out[(k * rows + i) * 2] = x[2 * k * step];
            out[(k * rows + i) * 2 + 1] = x[(2 * k + 1) * step];
          }
        }
      }
      for (int64_t i = 0; g.k % 2 && i < rows; ++i) {
        out[(g.k / 2 * rows + i) * 2] =
            g.transpose_a ? a[(g.k - 1) * g.m + row + i] : a[(row + i) * g.k + g.k - 1];
        out[(g.k / 2 * rows + i) * 2 + 1] = BF16{};
      }
    });
  }

  void multiply(const RunArgs& args, int64_t batch, int64_t panel, int64_t tile,
                int64_t last) const {
    static constexpr int64_t kNoOffset[] = {0};
    const BF16* b = packs_b ? at<BF16>(args, b_at) + batch * panels.elements()
                            : reinterpret_cast<const BF16*>(args.packed);
    const int64_t blocks = panels.blocks_of(panel), column = panel * kWidth;
    Bf16TileArgs t;
    t.runs = kNoOffset;
    t.run_count = 1;
    t.run_length = panels.pairs() * 2;
    t.weights = b + panels.offset(panel);
    t.bias = at<float>(args, 0) + column;
    t.out_pixel = g.n;
    t.out_block = 16;
    t.lanes = std::min<int64_t>(16, g.n - column - (blocks - 1) * 16);
    t.clamp = g.activation.on;
    t.min = g.activation.min;
    t.max = g.activation.max;
    t.activation_function = activation_function;
    for (; tile < last; ++tile) {
      const int64_t row = first_row(tile), rows = first_row(tile + 1) - row;
      const int64_t place = (batch * g.m + row) * g.n + column;
      t.in = at<BF16>(args, a_at) + (batch * g.m + row) * panels.pairs() * 2;
      t.out = reinterpret_cast<BF16*>(args.outputs[0]) + place;
      t.residual = g.has_z ? reinterpret_cast<const BF16*>(args.inputs[3]) + place : nullptr;
      find_bf16_tile(Bf16Walk::packed, rows, blocks)(t);
    }
  }
};

class Bf16Gemm final : public Kernel {
 public:
  Bf16Gemm(const Bf16Panels& panels, bool constant) : panels_(panels), constant_(constant) {}

  size_t packed_bytes() const override {
    return constant_ ? static_cast<size_t>(panels_.elements()) * sizeof(BF16) : 0;
  }
  bool packs_input(size_t input) const override { return input == 1 && constant_; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    if (!constant_) return {};
    ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
    parallel_tasks(static_cast<size_t>(panels_.count()), [&](size_t panel) {
      const auto at = static_cast<int64_t>(panel);
      panels_.pack(reinterpret_cast<const BF16*>(context.inputs[1].constant.data()), g.transpose_b,
                   g.alpha, at, reinterpret_cast<BF16*>(packed.data()) + panels_.offset(at));
    });
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    auto plan = std::make_unique<Bf16GemmPlan>();
    ANYNPU_ASSIGN(plan->g, gemm_shape_of(context));
    GemmShape& g = plan->g;
    join_batch(g);
    plan->panels = panels_;
    plan->packs_b = !constant_;
    if (g.activation_function)
      plan->activation_function = row_set(Isa::avx512).find(*g.activation_function);
    const auto round = [](int64_t bytes) { return static_cast<size_t>(round_up(bytes, 64)); };
    plan->a_at = round(panels_.blocks() * 16 * 4);
    plan->b_at = plan->a_at + round(g.batch() * g.m * panels_.pairs() * 4);
    plan->workspace_bytes =
        plan->b_at + (plan->packs_b ? round(g.batch() * panels_.elements() * 2) : 0);
    const auto tasks = static_cast<int64_t>(context.target.threads) * kBf16Tasks;
    const int64_t count = std::max<int64_t>(1, g.batch() * panels_.count());
    const int64_t pieces = std::max<int64_t>(1, ceil_div(tasks, count));
    plan->tile_step = std::max<int64_t>(1, ceil_div(plan->row_tiles(), pieces));
    plan->in_place_input = g.has_z ? 3 : -1;
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  Bf16Panels panels_;
  bool constant_;
};

}  // namespace

Status can_run_bf16_gemm(const OpContext& context) {
  ANYNPU_TRY(check_bf16());
  ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
  if (g.has_c && g.c_row != 0) return fail(Code::unsupported_shape, "C is a matrix, takes a row");
  return {};
}

Result<std::unique_ptr<Kernel>> create_bf16_gemm(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
  bool one_b = true;
  for (int64_t offset : g.batch_b) one_b = one_b && offset == g.batch_b[0];
  return std::unique_ptr<Kernel>(
      std::make_unique<Bf16Gemm>(Bf16Panels{g.k, g.n}, context.inputs[1].is_constant && one_b));
}

}  // namespace anynpu::ops::gemm
