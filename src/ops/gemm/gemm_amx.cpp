// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm_amx.h"

#include <cstring>

#include "base/align.h"
#include "ops/amx/product.h"
#include "ops/gemm/gemm.h"
#include "ops/gemm/packed.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops::gemm {

using namespace amx;

namespace {

// A panel of columns of b, or of its transpose.
void pack_matrix_panel(const Engine& engine, const PackedB& right, const GemmShape& g,
                       int64_t panel, const BF16* b, BF16* packed) {
  g.transpose_b ? right.pack_lines(panel, b, g.k, packed)
                : right.pack_rows(engine, panel, b, g.n, packed);
}

constexpr int64_t kRowBytes = kDepth * 2;

// Chunks of k, where both sides of a task are too large for the second-level cache: 384 of k. The
// bytes of a result depend on them, and so on the shape of the product alone.
constexpr int64_t kChunkSteps = 12;
constexpr int64_t kChunkRows = 512, kChunkPanels = 12;  // of a task
bool in_chunks(const PackedB& right, int64_t m) {
  constexpr int64_t kManyRows = 256, kManySteps = 64, kManyPanels = 32;
  return m >= kManyRows && right.steps() >= kManySteps && right.panels() >= kManyPanels;
}
// The same chunk of neighbouring panels must not fall on the same lines of the second-level cache:
// 128 KiB apart they would, so panels begin a chunk further each.
int64_t spare_steps(int64_t steps) {
  constexpr int64_t kSameLines = (128 << 10) / (kStepElements * 2);
  return (kChunkSteps - steps % kSameLines + kSameLines) % kSameLines;
}

struct AmxGemmPlan final : KernelPlan {
  const Engine* engine = nullptr;
  GemmShape g;
  PackedB right;
  TaskTiling tiling;
  bool packs_a = false, packs_b = false, chunks = false;
  RowMap activation_function = nullptr;
  std::vector<int64_t> step_at;
  int64_t a_at = 0,
          b_at = 0;  // bytes in the workspace; the bias begins at 0; sums are thread scratch

  // The left side of a matrix of the batch that is not multiplied where it lies: all its panels, or
  // the last one when that is not whole.
  int64_t panels_of_a() const { return ceil_div(g.m, kPanel); }
  int64_t a_bytes() const {
    return packs_a ? panels_of_a() * right.panel_bytes()
                   : (g.m % kPanel != 0) * right.steps() * kStepElements * 2;
  }
  int64_t sum_bytes() const { return chunks ? tiling.rows * tiling.task_panels * kPanel * 4 : 0; }

  void lay_out(int64_t threads) {
    tiling = chunks ? TaskTiling{g.m, right.panels(), kChunkRows, kChunkPanels, false}
                    : tile_work(right, g.m, right.steps() * kRowBytes, threads);
    for (int64_t step = 0; step < right.steps(); ++step)
      step_at.push_back(step * (packs_a ? kStepElements * 2 : kRowBytes));
    a_at = round_up(right.panels() * kPanel * 4, 64);
    b_at = a_at + g.batch() * a_bytes();
    const int64_t end = b_at + (packs_b ? g.batch() * right.elements() * 2 : 0);
    workspace_bytes = static_cast<size_t>(end);
    add_thread_scratch(static_cast<size_t>(threads), static_cast<size_t>(sum_bytes()));
  }

  Status run(const RunArgs& args) const override {
    if (g.batch() == 0 || g.m == 0 || g.n == 0) return {};
    fill_bias(args);
    pack_sides(args);
    run_tasks(g.batch() * tiling.tasks(), *this, args, [&](int64_t task, std::byte* sums) {
      multiply(args, task / tiling.tasks(), task % tiling.tasks(), sums);
    });
    return {};
  }

 private:
  void fill_bias(const RunArgs& args) const {
    float* bias = reinterpret_cast<float*>(args.workspace);
    std::fill(bias, bias + right.panels() * kPanel, 0.0f);
    if (!g.has_c) return;
    const BF16* c = input_of<BF16>(args, 2);
    for (int64_t j = 0; j < g.n; ++j) bias[j] = g.beta * to_float(c[j * g.c_column]);
  }

  void pack_sides(const RunArgs& args) const {
    const int64_t left = a_bytes() > 0 ? (packs_a ? panels_of_a() : 1) : 0;
    const int64_t each = left + (packs_b ? right.panels() : 0);
    if (each == 0) return;
    parallel_tasks(static_cast<size_t>(g.batch() * each), [&](size_t task) {
      const auto batch = static_cast<int64_t>(task) / each,
                 part = static_cast<int64_t>(task) % each;
      if (part < left) {
        pack_left(args, batch, packs_a ? part : panels_of_a() - 1);
      } else {
        pack_right(args, batch, part - left);
      }
    });
  }

  void pack_right(const RunArgs& args, int64_t batch, int64_t panel) const {
    const BF16* b = input_of<BF16>(args, 1) + g.batch_b[static_cast<size_t>(batch)];
    BF16* packed = reinterpret_cast<BF16*>(args.workspace + b_at) + batch * right.elements();
    pack_matrix_panel(*engine, right, g, panel, b, packed);
  }

  // Rows that do not exist, and what k has beyond its end, are zeros.
  void pack_left(const RunArgs& args, int64_t batch, int64_t panel) const {
    const BF16* a = input_of<BF16>(args, 0) + g.batch_a[static_cast<size_t>(batch)];
    std::byte* to = args.workspace + a_at + batch * a_bytes();
    if (packs_a) to += panel * right.panel_bytes();
    // Of a panel that lies among others in steps, or of one like the matrix itself.
    const int64_t row_bytes = packs_a ? kRowBytes : right.steps() * kRowBytes;
    for (int64_t i = 0; i < kPanel; ++i) {
      const int64_t row = panel * kPanel + i;
      for (int64_t step = 0; step < right.steps(); ++step) {
        const int64_t k = step * kDepth;
        const int64_t count = row < g.m ? std::min(kDepth, g.k - k) : 0;
        std::byte* const place = to + step_at[static_cast<size_t>(step)] + i * row_bytes;
        if (count == kDepth && !g.transpose_a) {
          std::memcpy(place, a + row * g.k + k, kRowBytes);
          continue;
        }
        BF16 cut_row[kDepth] = {};
        if (!g.transpose_a) {
          std::copy_n(a + row * g.k + k, count, cut_row);
        } else {
          for (int64_t j = 0; j < count; ++j) cut_row[j] = a[(k + j) * g.m + row];
        }
        std::memcpy(place, cut_row, sizeof cut_row);
      }
    }
  }

  void multiply(const RunArgs& args, int64_t batch, int64_t task, std::byte* sums) const {
    Epilogue epilogue;
    const int64_t result = batch * g.m * g.n;
    epilogue.bias = reinterpret_cast<const float*>(args.workspace);
    epilogue.residual = g.has_z ? input_of<BF16>(args, 3) + result : nullptr;
    epilogue.out = output_of<BF16>(args, 0) + result;
    epilogue.row_step = g.n;
    epilogue.tile_step = kRows;
    epilogue.rows = g.m;
    epilogue.columns = g.n;
    epilogue.alpha = g.alpha;
    epilogue.clamp = g.activation.on;
    epilogue.min = g.activation.min;
    epilogue.max = g.activation.max;
    epilogue.activation_function = activation_function;
    const int64_t row = tiling.first_row(task), panel = tiling.first_panel(task);
    const std::byte* packed = args.workspace + a_at + batch * a_bytes();
    Job job;
    if (packs_a) {
      job.row_bytes = kRowBytes;
      job.panel_bytes = right.panel_bytes();
      job.a = packed + row / kPanel * job.panel_bytes;
    } else {
      job.row_bytes = g.k * 2;
      job.panel_bytes = kPanel * job.row_bytes;
      job.a = reinterpret_cast<const std::byte*>(input_of<BF16>(args, 0) +
                                                 g.batch_a[static_cast<size_t>(batch)]) +
              row * job.row_bytes;
      if (tiling.end_row(task) == g.m && g.m % kPanel != 0) job.last_a = packed;
    }
    job.row_panels = ceil_div(tiling.end_row(task) - row, kPanel);
    job.b = packs_b
                ? reinterpret_cast<const BF16*>(args.workspace + b_at) + batch * right.elements()
                : reinterpret_cast<const BF16*>(args.packed);
    job.b += panel * right.panel_elements();
    job.b_panel = right.panel_elements();
    job.column_panels = tiling.end_panel(task) - panel;
    job.columns_outside = tiling.columns_outside;
    job.row = row;
    job.column = panel * kPanel;
    job.sums = reinterpret_cast<float*>(sums);
    job.epilogue = &epilogue;
    const int64_t chunk = chunks ? kChunkSteps : std::max<int64_t>(1, right.steps());
    const BF16* const b = job.b;
    int64_t step = 0;
    do {  // once for k = 0, too
      job.steps = std::min(chunk, right.steps() - step);
      job.step_at = step_at.data() + step;
      job.b = b + step * kStepElements;
      job.first = step == 0;
      step += chunk;
      job.last = step >= right.steps();
      // The last chunk is followed by the next rows, mostly of the same columns.
      job.next_b = job.last ? b : b + step * kStepElements;
      job.next_a = job.last ? job.a + job.row_panels * job.panel_bytes
                            : job.a + step_at[static_cast<size_t>(step)];
      engine->multiply(job);
    } while (!job.last);
  }
};

class AmxGemm final : public Kernel {
 public:
  AmxGemm(const Engine& engine, const PackedB& right, bool constant)
      : engine_(engine), right_(right), constant_(constant) {}

  size_t packed_bytes() const override {
    return constant_ ? static_cast<size_t>(right_.elements()) * sizeof(BF16) : 0;
  }
  bool packs_input(size_t input) const override { return input == 1 && constant_; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    if (!constant_) return {};
    ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
    const BF16* b = reinterpret_cast<const BF16*>(context.inputs[1].constant.data());
    parallel_tasks(static_cast<size_t>(right_.panels()), [&](size_t panel) {
      pack_matrix_panel(engine_, right_, g, static_cast<int64_t>(panel), b,
                        reinterpret_cast<BF16*>(packed.data()));
    });
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    auto plan = std::make_unique<AmxGemmPlan>();
    ANYNPU_ASSIGN(plan->g, gemm_shape_of(context));
    GemmShape& g = plan->g;
    join_batch(g);
    plan->engine = &engine_;
    plan->right = right_;
    plan->packs_b = !constant_;
    plan->chunks = right_.spare_steps > 0 || in_chunks(right_, g.m);
    plan->packs_a = plan->chunks || g.transpose_a || g.k % kDepth != 0;
    if (g.activation_function) {
      plan->activation_function = row_set(check_isa(Isa::avx512).ok() ? Isa::avx512 : Isa::baseline)
                                      .find(*g.activation_function);
    }
    plan->lay_out(static_cast<int64_t>(context.target.threads));
    plan->in_place_input = g.has_z ? 3 : -1;
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  const Engine& engine_;
  PackedB right_;
  bool constant_;
};

}  // namespace

Status check_amx_gemm(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
  if (g.has_c && g.c_row != 0) return fail(Code::unsupported_shape, "C is a matrix, takes a row");
  return {};
}

Status can_run_amx_gemm(const OpContext& context) {
  ANYNPU_TRY(check_amx());
  ANYNPU_TRY(check_amx_gemm(context));
  // Few rows are bound by reading b, which vectors stream from memory twice as fast as tiles.
  constexpr int64_t kFewRows = 6;
  ANYNPU_ASSIGN(GemmShape g, gemm_shape_of(context));
  join_batch(g);
  if (g.m < kFewRows && context.inputs[1].is_constant)
    return fail(Code::unsupported_shape, "{} rows leave most of a tile empty", g.m);
  return {};
}

template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_amx_gemm(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
  bool one_b = true;
  for (int64_t offset : g.batch_b) one_b = one_b && offset == g.batch_b[0];
  PackedB right{g.k, g.n};
  if (in_chunks(right, g.m)) right.spare_steps = spare_steps(right.steps());
  return std::unique_ptr<Kernel>(
      std::make_unique<AmxGemm>(engine(), right, context.inputs[1].is_constant && one_b));
}

template Result<std::unique_ptr<Kernel>> create_amx_gemm<amx_engine>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_amx_gemm<software_engine>(const OpContext&);

}  // namespace anynpu::ops::gemm
