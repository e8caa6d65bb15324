// SPDX-License-Identifier: Apache-2.0
// Integer products on register tiles (simd/tile_int8.h). The instruction multiplies unsigned by
// signed bytes: a signed a is moved up by 128, an unsigned b down, and their zero points with them.
// With what is moved called x and y,
//   sum of (x - zx) * (y - zy) = sum of x * y - zx * column sum of y
//                                - zy * (row sum of x - k * zx)
// holds in int32 that wraps.
#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/elements/wide.h"
#include "ops/gemm/int8.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/simd/tile_int8.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kTasks = 4;  // per thread
constexpr uint8_t kMove = 0x80;

// [panel][k / 4][32][4] of y, then [columns] of int32: their sums. k and n padded with zeros.
struct BytePanels {
  int64_t k = 0, n = 0;
  bool moved = false;  // b is unsigned

  int64_t steps() const { return ceil_div(k, 4); }
  int64_t count() const { return ceil_div(n, kInt8Columns); }
  int64_t panel_bytes() const { return steps() * kInt8Columns * 4; }
  int64_t sums_at() const { return count() * panel_bytes(); }
  int64_t bytes() const { return sums_at() + count() * kInt8Columns * 4; }
  const int32_t* sums(const std::byte* packed) const {
    return reinterpret_cast<const int32_t*>(packed + sums_at());
  }

  void pack(const uint8_t* b, int64_t panel, std::byte* packed) const {
    auto* out = reinterpret_cast<uint8_t*>(packed + panel * panel_bytes());
    int32_t* sums = reinterpret_cast<int32_t*>(packed + sums_at()) + panel * kInt8Columns;
    std::fill(sums, sums + kInt8Columns, 0);
    const uint8_t flip = moved ? kMove : 0;
    uint8_t edge[4][16];  // where fewer than 16 columns are left
    for (int64_t step = 0; step < steps(); ++step) {
      for (int64_t half = 0; half < 2; ++half, out += 64) {
        const int64_t first = panel * kInt8Columns + half * 16;
        const int64_t valid = std::clamp<int64_t>(n - first, 0, 16);
        const uint8_t* rows[4] = {};
        for (int64_t r = 0; r < 4 && step * 4 + r < k && valid > 0; ++r) {
          rows[r] = b + (step * 4 + r) * n + first;
          if (valid < 16) {
            std::fill(edge[r], edge[r] + 16, flip);
            std::copy(rows[r], rows[r] + valid, edge[r]);
            rows[r] = edge[r];
          }
        }
        interleave_four(rows, flip, out);
        for (int64_t j = 0; j < 16; ++j) {
          int32_t four = 0;
          for (int64_t r = 0; r < 4; ++r) four += static_cast<int8_t>(out[j * 4 + r]);
          sums[half * 16 + j] += four;
        }
      }
    }
  }
};

class PackedMatMulPlan final : public KernelPlan {
 public:
  IntegerMatMul p;
  BytePanels panels;
  bool packs_b = false;
  int64_t b_at = 0, a_at = 0, row_sums_at = 0, zeros_at = 0;  // bytes in the workspace
  int64_t tile_step = 1;                                      // row tiles of a task
  decltype(store_block<double>(DType::u8)) store = nullptr;   // of QLinearMatMul

  int64_t row_tiles() const { return ceil_div(p.m, kInt8Rows); }
  int64_t first_row(int64_t tile) const { return p.m * tile / row_tiles(); }

  Status run(const RunArgs& args) const override {
    if (p.batches == 0 || p.m == 0 || p.n == 0) return {};
    read_zeros(args);
    parallel_tasks(static_cast<size_t>(p.batches * row_tiles()), [&](size_t task) {
      pack_rows(args, static_cast<int64_t>(task) / row_tiles(),
                static_cast<int64_t>(task) % row_tiles());
    });
    if (packs_b) {
      parallel_tasks(static_cast<size_t>(p.batches * panels.count()), [&](size_t task) {
        const int64_t matrix = static_cast<int64_t>(task) / panels.count();
        int64_t a = 0, b = 0;
        p.offsets(matrix, a, b);
        panels.pack(reinterpret_cast<const uint8_t*>(args.inputs[p.b_place]) + b * p.k * p.n,
                    static_cast<int64_t>(task) % panels.count(),
                    args.workspace + b_at + matrix * panels.bytes());
      });
    }
    const int64_t pieces = ceil_div(row_tiles(), tile_step);
    parallel_tasks(static_cast<size_t>(p.batches * panels.count() * pieces), [&](size_t task) {
      const auto at = static_cast<int64_t>(task);
      const int64_t first = at % pieces * tile_step;
      for (int64_t tile = first; tile < std::min(row_tiles(), first + tile_step); ++tile) {
        multiply(args, at / (panels.count() * pieces), at / pieces % panels.count(), tile);
      }
    });
    return {};
  }

 private:
  template <typename T>
  static T* place(const RunArgs& args, int64_t at) {
    return reinterpret_cast<T*>(args.workspace + at);
  }

  // Zero points of all rows, then of all columns, moved as the bytes are.
  void read_zeros(const RunArgs& args) const {
    int32_t* zeros = place<int32_t>(args, zeros_at);
    const int32_t up = p.a_type == DType::i8 ? 128 : 0, down = panels.moved ? 128 : 0;
    for (int64_t i = 0; i < p.m; ++i) {
      *zeros++ = static_cast<int32_t>(p.a_zero.at(args, i, 0)) + up;
    }
    for (int64_t j = 0; j < panels.count() * kInt8Columns; ++j) {
      *zeros++ = j < p.n ? static_cast<int32_t>(p.b_zero.at(args, j, 0)) - down : 0;
    }
  }

  // One tile of rows as [k / 4][row][4], and their sums less k times their zero point.
  void pack_rows(const RunArgs& args, int64_t matrix, int64_t tile) const {
    int64_t from = 0, ignored = 0;
    p.offsets(matrix, from, ignored);
    const int64_t row = first_row(tile), rows = first_row(tile + 1) - row;
    const auto* a = reinterpret_cast<const uint8_t*>(args.inputs[0]) + (from * p.m + row) * p.k;
    const uint32_t flip = p.a_type == DType::i8 ? 0x80808080u : 0u;
    uint8_t* out = place<uint8_t>(args, a_at) + (matrix * p.m + row) * panels.steps() * 4;
    int32_t* sums = place<int32_t>(args, row_sums_at) + matrix * p.m + row;
    const int32_t* zeros = place<const int32_t>(args, zeros_at) + row;
    for (int64_t i = 0; i < rows; ++i, a += p.k) {
      uint32_t sum = 0;
      const auto put = [&](int64_t step, uint32_t four) {
        std::memcpy(out + (step * rows + i) * 4, &four, 4);
        const uint32_t pairs = (four & 0xff00ffu) + (four >> 8 & 0xff00ffu);
        sum += (pairs & 0xffffu) + (pairs >> 16);
      };
      const int64_t whole = p.k / 4, rest = p.k % 4;
      for (int64_t step = 0; step < whole; ++step) {
        uint32_t four;
        std::memcpy(&four, a + step * 4, 4);
        put(step, four ^ flip);
      }
      if (rest > 0) {
        uint32_t four = 0;
        std::memcpy(&four, a + whole * 4, static_cast<size_t>(rest));
        put(whole, (four ^ flip) & ((1u << rest * 8) - 1));
      }
      sums[i] =
          static_cast<int32_t>(sum - static_cast<uint32_t>(p.k) * static_cast<uint32_t>(zeros[i]));
    }
  }

  void multiply(const RunArgs& args, int64_t matrix, int64_t panel, int64_t tile) const {
    const std::byte* b = packs_b ? args.workspace + b_at + matrix * panels.bytes() : args.packed;
    const int64_t row = first_row(tile), rows = first_row(tile + 1) - row;
    const int64_t column = panel * kInt8Columns;
    const int64_t columns = std::min(kInt8Columns, p.n - column);
    alignas(64) int32_t sums[kInt8Rows * kInt8Columns];
    const int64_t to = (matrix * p.m + row) * p.n + column;
    Int8TileArgs t;
    t.in = place<const uint8_t>(args, a_at) + (matrix * p.m + row) * panels.steps() * 4;
    t.weights = reinterpret_cast<const int8_t*>(b + panel * panels.panel_bytes());
    t.steps = panels.steps();
    t.row_zeros = place<const int32_t>(args, zeros_at) + row;
    t.row_sums = place<const int32_t>(args, row_sums_at) + matrix * p.m + row;
    t.column_sums = panels.sums(b) + column;
    t.column_zeros = place<const int32_t>(args, zeros_at) + p.m + column;
    t.out = p.linear ? sums : reinterpret_cast<int32_t*>(args.outputs[0]) + to;
    t.out_row = p.linear ? kInt8Columns : p.n;
    t.columns = columns;
    find_int8_tile(rows)(t);
    for (int64_t i = 0; p.linear && i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const double value = p.quantised(args, row + i, column + j, sums[i * kInt8Columns + j]);
        store(args.outputs[0], to + i * p.n + j, &value, 1);
      }
    }
  }
};

class PackedMatMul final : public Kernel {
 public:
  PackedMatMul(const IntegerMatMul& problem, bool constant)
      : panels_{problem.k, problem.n, problem.b_type == DType::u8},
        b_(problem.b_place),
        constant_(constant) {}

  size_t packed_bytes() const override {
    return constant_ ? static_cast<size_t>(panels_.bytes()) : 0;
  }
  bool packs_input(size_t input) const override { return input == b_ && constant_; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    if (!constant_) return {};
    const auto* b = reinterpret_cast<const uint8_t*>(context.inputs[b_].constant.data());
    parallel_tasks(static_cast<size_t>(panels_.count()), [&](size_t panel) {
      panels_.pack(b, static_cast<int64_t>(panel), packed.data());
    });
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    auto plan = std::make_unique<PackedMatMulPlan>();
    ANYNPU_ASSIGN(plan->p, integer_matmul_of(context));
    const IntegerMatMul& p = plan->p;
    plan->store = store_block<double>(p.out_type);
    plan->panels = panels_;
    plan->packs_b = !constant_;
    const auto round = [](int64_t bytes) { return round_up(bytes, 64); };
    plan->a_at = plan->packs_b ? round(p.batches * panels_.bytes()) : 0;
    plan->row_sums_at = plan->a_at + round(p.batches * p.m * panels_.steps() * 4);
    plan->zeros_at = plan->row_sums_at + round(p.batches * p.m * 4);
    plan->workspace_bytes =
        static_cast<size_t>(plan->zeros_at + round((p.m + panels_.count() * kInt8Columns) * 4));
    const auto tasks = static_cast<int64_t>(context.target.threads) * kTasks;
    const int64_t count = std::max<int64_t>(1, p.batches * panels_.count());
    const int64_t pieces = std::max<int64_t>(1, ceil_div(tasks, count));
    plan->tile_step = std::max<int64_t>(1, ceil_div(plan->row_tiles(), pieces));
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  BytePanels panels_;
  size_t b_;
  bool constant_;
};

}  // namespace

// Packed copies of both sides grow with k; past this the plain loop reads them in place.
Status can_run_packed_matmul(const OpContext& context) {
  constexpr int64_t kMostBytes = int64_t{1} << 32;
  ANYNPU_TRY(check_vnni());
  ANYNPU_ASSIGN(const IntegerMatMul p, integer_matmul_of(context));
  if (p.real())
    return fail(Code::unsupported_dtype, "{} and {}", name_of(p.a_type), name_of(p.b_type));
  const double bytes = static_cast<double>(p.k) * static_cast<double>(p.batches) *
                       static_cast<double>(p.m + p.n + kInt8Columns);
  if (bytes <= static_cast<double>(kMostBytes)) return {};
  return fail(Code::unsupported_feature, "packing {}x{}x{} would take over {} bytes", p.m, p.k, p.n,
              kMostBytes);
}

Result<std::unique_ptr<Kernel>> create_packed_matmul(const OpContext& context) {
  ANYNPU_ASSIGN(const IntegerMatMul problem, integer_matmul_of(context));
  const Operand& b = context.inputs[problem.b_place];
  return std::unique_ptr<Kernel>(
      std::make_unique<PackedMatMul>(problem, b.is_constant && b.rank() == 2));
}

}  // namespace anynpu::ops::gemm
