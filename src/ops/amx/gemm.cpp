// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm.h"

#include "ops/amx/amx.h"
#include "ops/amx/product.h"
#include "ops/gemm/packed.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops::amx {

namespace {

struct AmxGemmPlan final : KernelPlan {
  GemmShape g;
  Product product;
  bool packs_b = false;
  RowMap curve = nullptr;
  int64_t b_at = 0, scratch_at = 0;  // bytes in the workspace; the bias begins at 0

  Status run(const RunArgs& args) const override {
    if (g.batch() == 0 || g.m == 0 || g.n == 0) return {};
    fill_bias(args);
    const RightSide& right = product.right;
    BF16* packed = reinterpret_cast<BF16*>(args.workspace + b_at);
    if (packs_b) {
      parallel_tasks(static_cast<size_t>(g.batch() * right.panels()), [&](size_t task) {
        const auto batch = static_cast<int64_t>(task) / right.panels();
        const BF16* b = input_of<BF16>(args, 1) + g.batch_b[static_cast<size_t>(batch)];
        right.pack_panel(
            static_cast<int64_t>(task) % right.panels(),
            [&](int64_t k, int64_t j) { return g.transpose_b ? b[j * g.k + k] : b[k * g.n + j]; },
            packed + batch * right.elements());
      });
    }
    const int64_t tasks = product.tasks();
    run_tasks(g.batch() * tasks, args.workspace + scratch_at, product.scratch_bytes(),
              [&](int64_t task, std::byte* scratch) {
                const BF16* b = packs_b ? packed + task / tasks * right.elements()
                                        : reinterpret_cast<const BF16*>(args.packed);
                multiply(args, task / tasks, task % tasks, b, scratch);
              });
    return {};
  }

 private:
  void fill_bias(const RunArgs& args) const {
    float* bias = reinterpret_cast<float*>(args.workspace);
    std::fill(bias, bias + product.right.panels() * kPanel, 0.0f);
    if (!g.has_c) return;
    const BF16* c = input_of<BF16>(args, 2);
    for (int64_t j = 0; j < g.n; ++j) bias[j] = g.beta * to_float(c[j * g.c_column]);
  }

  void multiply(const RunArgs& args, int64_t batch, int64_t task, const BF16* b,
                std::byte* scratch) const {
    const BF16* a = input_of<BF16>(args, 0) + g.batch_a[static_cast<size_t>(batch)];
    const auto pack = [&](int64_t row, int64_t rows, int64_t k, int64_t count, BF16* packed) {
      for (int64_t i = 0; i < rows; ++i) {
        const BF16* x = g.transpose_a ? a + k * g.m + row + i : a + (row + i) * g.k + k;
        const int64_t step = g.transpose_a ? g.m : 1;
        if (step > 1) {
          for (int64_t j = 0; j < count; ++j) packed[left_offset(i, j)] = x[j * step];
          continue;
        }
        for (int64_t j = 0; j < count; j += kDepth) {
          std::copy(x + j, x + std::min(count, j + kDepth), packed + left_offset(i, j));
        }
      }
    };
    Finish finish;
    finish.alpha = g.alpha;
    finish.clamp = g.activation.on;
    finish.min = g.activation.min;
    finish.max = g.activation.max;
    finish.curve = curve;
    product.run(task, b, scratch, pack, [&](int64_t row, int64_t column, const float* sums) {
      const int64_t place = (batch * g.m + row) * g.n + column;
      finish.bias = reinterpret_cast<const float*>(args.workspace) + column;
      finish.out = output_of<BF16>(args, 0) + place;
      finish.residual = g.has_z ? input_of<BF16>(args, 3) + place : nullptr;
      finish.lanes = std::min(kRows, g.n - column);
      product.engine->finish(finish, sums);
    });
  }
};

class AmxGemm final : public Kernel {
 public:
  AmxGemm(const Engine& engine, const RightSide& right, bool constant)
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
      right_.pack_panel(
          static_cast<int64_t>(panel),
          [&](int64_t k, int64_t j) { return g.transpose_b ? b[j * g.k + k] : b[k * g.n + j]; },
          reinterpret_cast<BF16*>(packed.data()));
    });
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    auto plan = std::make_unique<AmxGemmPlan>();
    ANYNPU_ASSIGN(plan->g, gemm_shape_of(context));
    GemmShape& g = plan->g;
    join_batch(g);
    const auto threads = static_cast<int64_t>(ThreadPool::instance().threads());
    plan->product = Product::cut(engine_, right_, g.m, std::max<int64_t>(1, g.batch()), threads);
    plan->packs_b = !constant_;
    if (g.curve) {
      plan->curve =
          row_set(check_isa(Isa::avx512).ok() ? Isa::avx512 : Isa::baseline).find(*g.curve);
    }
    const auto round = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
    plan->b_at = round(right_.panels() * kPanel * 4);
    plan->scratch_at = plan->b_at + (plan->packs_b ? round(g.batch() * right_.elements() * 2) : 0);
    plan->workspace_bytes =
        static_cast<size_t>(plan->scratch_at + threads * plan->product.scratch_bytes());
    plan->in_place_input = g.has_z ? 3 : -1;
    return std::unique_ptr<KernelPlan>(std::move(plan));
  }

 private:
  const Engine& engine_;
  RightSide right_;
  bool constant_;
};

}  // namespace

Status check_gemm(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
  if (g.has_c && g.c_row != 0) return fail(Code::unsupported_shape, "C is a matrix, takes a row");
  return {};
}

Status can_run_gemm(const OpContext& context) {
  ANYNPU_TRY(check_amx());
  return check_gemm(context);
}

template <const Engine& (*engine)()>
Result<std::unique_ptr<Kernel>> create_gemm(const OpContext& context) {
  ANYNPU_ASSIGN(const GemmShape g, gemm_shape_of(context));
  bool one_b = true;
  for (int64_t offset : g.batch_b) one_b = one_b && offset == g.batch_b[0];
  return std::unique_ptr<Kernel>(std::make_unique<AmxGemm>(engine(), RightSide{g.k, g.n},
                                                           context.inputs[1].is_constant && one_b));
}

template Result<std::unique_ptr<Kernel>> create_gemm<amx_engine>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_gemm<software_engine>(const OpContext&);

}  // namespace anynpu::ops::amx
