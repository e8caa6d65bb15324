// SPDX-License-Identifier: Apache-2.0
// A few rows times a matrix that is not constant: the matrix is read once, as it lies. The speed is
// that of memory, so short floats are read as they are and widened piece by piece.
#include <algorithm>

#include "base/align.h"
#include "ops/gemm/packed.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/simd/products.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::gemm {

namespace {

constexpr int64_t kMostRows = 8;
constexpr int64_t kPiece = 1024;         // of a row of B that is widened at a time
constexpr int64_t kColumns = 512;        // of a task, where B is not transposed
constexpr int64_t kTaskBytes = 1 << 16;  // of B, where it is

struct FewRows {
  GemmShape g;
  DType type = DType::f32;
  const ProductSet* products = nullptr;
  int64_t step = 1;  // columns of a task

  bool is_short() const { return type != DType::f32; }
  int64_t tasks_of_one() const { return ceil_div(g.n, step); }

  // `count` elements of B from `at` on, in float32.
  const float* widened(const RunArgs& args, int64_t at, int64_t count, float* buffer) const {
    if (!is_short()) return input_of<float>(args, 1) + at;
    widen(type, args.inputs[1] + at * 2, buffer, static_cast<size_t>(count));
    return buffer;
  }

  void by_dots(const RunArgs& args, const float* a, int64_t b, int64_t begin, int64_t end,
               float* sums) const {
    float buffer[kPiece];
    for (int64_t n = begin; n < end; ++n) {
      float column[kMostRows] = {};
      for (int64_t k = 0; k < g.k; k += kPiece) {
        const int64_t count = std::min(kPiece, g.k - k);
        const float* right = widened(args, b + n * g.k + k, count, buffer);
        for (int64_t row = 0; row < g.m; row += kMostProductRows) {
          products->dots(a + row * g.k + k, g.k, std::min(kMostProductRows, g.m - row), right,
                         count, column + row);
        }
      }
      for (int64_t row = 0; row < g.m; ++row) sums[row * kColumns + n - begin] = column[row];
    }
  }

  void by_rows(const RunArgs& args, const float* a, int64_t b, int64_t begin, int64_t end,
               float* sums) const {
    const int64_t count = end - begin;
    for (int64_t row = 0; row < g.m; ++row) std::fill_n(sums + row * kColumns, count, 0.0f);
    const auto add = [&](int64_t k, const float* right, int64_t b_step, int64_t depth) {
      for (int64_t row = 0; row < g.m; row += kMostProductRows) {
        products->add_rows(a + row * g.k + k, g.k, std::min(kMostProductRows, g.m - row), right,
                           b_step, depth, sums + row * kColumns, kColumns, count);
      }
    };
    if (!is_short()) return add(0, input_of<float>(args, 1) + b + begin, g.n, g.k);
    float buffer[4 * kColumns];
    for (int64_t k = 0; k < g.k; k += 4) {
      const int64_t depth = std::min<int64_t>(4, g.k - k);
      for (int64_t i = 0; i < depth; ++i)
        widened(args, b + (k + i) * g.n + begin, count, buffer + i * kColumns);
      add(k, buffer, kColumns, depth);
    }
  }

  // The rows of A of a matrix of the batch, in float32 and not transposed.
  const float* left(const RunArgs& args, int64_t batch, float* workspace) const {
    if (!is_short() && !g.transpose_a)
      return input_of<float>(args, 0) + g.batch_a[static_cast<size_t>(batch)];
    return workspace + batch * g.m * g.k;
  }
  void pack_left(const RunArgs& args, float* workspace) const {
    if (!is_short() && !g.transpose_a) return;
    const auto size = static_cast<size_t>(g.m * g.k);
    const auto least = static_cast<size_t>(1 + 16384 / (g.m * g.k + 1));
    parallel(static_cast<size_t>(g.batch()), least, [&](size_t first, size_t last) {
      for (size_t batch = first; batch < last; ++batch) {
        float* to = workspace + batch * size;
        if (!g.transpose_a) {
          widen(type, args.inputs[0] + g.batch_a[batch] * 2, to, size);
          continue;
        }
        for (int64_t k = 0; k < g.k; ++k) {
          float row[kMostRows];
          const int64_t at = g.batch_a[batch] + k * g.m;
          if (is_short())
            widen(type, args.inputs[0] + at * 2, row, static_cast<size_t>(g.m));
          else
            std::copy_n(input_of<float>(args, 0) + at, g.m, row);
          for (int64_t i = 0; i < g.m; ++i) to[i * g.k + k] = row[i];
        }
      }
    });
  }

  void store(const RunArgs& args, const float* sums, int64_t batch, int64_t begin,
             int64_t count) const {
    for (int64_t row = 0; row < g.m; ++row) {
      const int64_t at = (batch * g.m + row) * g.n + begin;
      const float* from = sums + row * kColumns;
      if (is_short()) {
        narrow(type, from, args.outputs[0] + at * 2, static_cast<size_t>(count));
      } else {
        float* to = output_of<float>(args, 0) + at;
        for (int64_t j = 0; j < count; ++j) to[j] = from[j];
      }
    }
  }

  void operator()(const RunArgs& args) const {
    if (g.batch() == 0 || g.m == 0 || g.n == 0) return;
    auto* workspace = reinterpret_cast<float*>(args.workspace);
    pack_left(args, workspace);
    const auto tasks = static_cast<size_t>(g.batch() * tasks_of_one());
    const auto least = static_cast<size_t>(1 + 16384 / (step * g.k + 1));
    parallel(tasks, least, [&](size_t first, size_t last) {
      float sums[kMostRows * kColumns];
      for (auto task = static_cast<int64_t>(first); task < static_cast<int64_t>(last); ++task) {
        const int64_t batch = task / tasks_of_one(), begin = task % tasks_of_one() * step;
        const int64_t end = std::min(g.n, begin + step), b = g.batch_b[static_cast<size_t>(batch)];
        const float* a = left(args, batch, workspace);
        if (g.transpose_b)
          by_dots(args, a, b, begin, end, sums);
        else
          by_rows(args, a, b, begin, end, sums);
        for (int64_t row = 0; g.alpha != 1.0f && row < g.m; ++row) {
          for (int64_t j = 0; j < end - begin; ++j) sums[row * kColumns + j] *= g.alpha;
        }
        store(args, sums, batch, begin, end - begin);
      }
    });
  }
};

Isa widest_isa() {
  if (check_isa(Isa::avx512).ok()) return Isa::avx512;
  return check_isa(Isa::avx2).ok() ? Isa::avx2 : Isa::baseline;
}

PlanResult plan_few_rows(const OpContext& context) {
  FewRows f;
  ANYNPU_ASSIGN(f.g, gemm_shape_of(context));
  join_batch(f.g);
  f.type = context.inputs[0].dtype;
  f.products = &product_set(widest_isa());
  const GemmShape& g = f.g;
  const auto threads = static_cast<int64_t>(context.target.threads);
  const int64_t even = round_up(ceil_div(std::max<int64_t>(g.n, 1), threads), 16);
  f.step = g.transpose_b ? kTaskBytes / 4 / std::max<int64_t>(g.k, 1) : even;
  f.step = std::clamp<int64_t>(f.step, 16, kColumns);
  const bool packs = f.is_short() || g.transpose_a;
  auto plan = make_plan(f);
  if (packs) plan->workspace_bytes = static_cast<size_t>(g.batch() * g.m * g.k) * sizeof(float);
  return plan;
}

}  // namespace

Status can_run_few_rows(const OpContext& context) {
  if (context.inputs[1].is_constant) return fail(Code::unsupported_shape, "the matrix is constant");
  for (const Operand& operand : {context.inputs[0], context.inputs[1]}) {
    if (!operand.fully_known()) return fail(Code::unsupported_shape, "the shapes are not known");
  }
  ANYNPU_ASSIGN(GemmShape g, gemm_shape_of(context));
  join_batch(g);
  if (g.m > kMostRows)
    return fail(Code::unsupported_shape, "{} rows, takes up to {}", g.m, kMostRows);
  if (g.has_c || g.has_z || g.activation.on || g.activation_function)
    return fail(Code::unsupported_shape, "takes products alone");
  return {};
}

Result<std::unique_ptr<Kernel>> create_few_rows(const OpContext& context) {
  return create_plain<plan_few_rows>(context);
}

}  // namespace anynpu::ops::gemm
