// SPDX-License-Identifier: Apache-2.0
// Matrix product as three loops with long sums: the oracle of the others.
#include <cmath>

#include "ops/gemm/gemm.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "tensor/element.h"

namespace anynpu::ops::gemm {

namespace {

// Integers are summed unsigned, so that overflow wraps.
template <typename T>
struct SumOf {
  using type = typename Element<T>::Sum;
};
template <typename T>
requires std::is_integral_v<T>
struct SumOf<T> {
  using type = uint64_t;
};

template <typename T>
struct ReferenceGemm {
  GemmShape g;

  // A whole factor of integers wraps like their sum; another one truncates, within 64 bits.
  static typename SumOf<T>::type scaled(typename SumOf<T>::type value, float by) {
    using Sum = typename SumOf<T>::type;
    if constexpr (std::is_integral_v<T>) {
      if (by == std::trunc(by) && std::fabs(by) < 0x1p62f)
        return value * static_cast<uint64_t>(static_cast<int64_t>(by));
      const double product = static_cast<double>(static_cast<T>(value)) * by;
      if (!(std::fabs(product) < 0x1p63)) return 0;
      return static_cast<uint64_t>(static_cast<int64_t>(product));
    } else {
      return static_cast<Sum>(static_cast<double>(value) * by);
    }
  }

  // `at`: the place of the cell in y.
  T cell(const RunArgs& args, const T* a, const T* b, int64_t i, int64_t j, int64_t at) const {
    using Sum = typename SumOf<T>::type;
    const int64_t a_start = g.transpose_a ? i : i * g.k, a_step = g.transpose_a ? g.m : 1;
    const int64_t b_start = g.transpose_b ? j * g.k : j, b_step = g.transpose_b ? 1 : g.n;
    Sum sum = 0;
    for (int64_t k = 0; k < g.k; ++k) {
      sum += static_cast<Sum>(Element<T>::load(a[a_start + k * a_step])) *
             static_cast<Sum>(Element<T>::load(b[b_start + k * b_step]));
    }
    if (g.alpha != 1.0f) sum = scaled(sum, g.alpha);
    if (g.has_c) {
      const T c = input_of<T>(args, 2)[i * g.c_row + j * g.c_column];
      if (g.beta == 1.0f) {
        sum += static_cast<Sum>(Element<T>::load(c));
      } else {
        sum += scaled(static_cast<Sum>(Element<T>::load(c)), g.beta);
      }
    }
    if (g.has_z) sum += static_cast<Sum>(Element<T>::load(input_of<T>(args, 3)[at]));
    if constexpr (!std::is_integral_v<T>) {
      if (g.activation_function) sum = static_cast<Sum>(activated(g, static_cast<double>(sum)));
      if (g.activation.on && sum < g.activation.min) sum = g.activation.min;
      if (g.activation.on && sum > g.activation.max) sum = g.activation.max;
    }
    return Element<T>::store(sum);
  }

  void operator()(const RunArgs& args) const {
    const auto rows = static_cast<size_t>(g.batch() * g.m);
    parallel(rows, 1, [&](size_t begin, size_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        const auto batch = static_cast<size_t>(row / g.m);
        const T* a = input_of<T>(args, 0) + g.batch_a[batch];
        const T* b = input_of<T>(args, 1) + g.batch_b[batch];
        T* y = output_of<T>(args, 0) + row * g.n;
        for (int64_t j = 0; j < g.n; ++j) y[j] = cell(args, a, b, row % g.m, j, row * g.n + j);
      }
    });
  }
};

PlanResult plan_gemm(const OpContext& context) {
  ANYNPU_ASSIGN(GemmShape g, gemm_shape_of(context));
  std::unique_ptr<KernelPlan> plan;
  visit_numbers(context.inputs[0].dtype,
                [&](auto zero) { plan = make_plan(ReferenceGemm<decltype(zero)>{g}); });
  if (!plan) return no_kernel_for(context);
  return plan;
}

}  // namespace

double activated(const GemmShape& g, double x) {
  if (g.activation_function == RowFunction::gelu) {
    x = 0.5 * x * (1 + std::erf(x * 0.7071067811865476));
  } else if (g.activation_function == RowFunction::gelu_tanh) {
    x = 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  } else if (g.activation_function) {
    x = std::tanh(x);
  }
  if (g.activation.on && x < g.activation.min) x = g.activation.min;
  if (g.activation.on && x > g.activation.max) x = g.activation.max;
  return x;
}

Result<std::unique_ptr<Kernel>> create_gemm_reference(const OpContext& context) {
  return create_plain<plan_gemm>(context);
}

}  // namespace anynpu::ops::gemm
