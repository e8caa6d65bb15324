// SPDX-License-Identifier: Apache-2.0
#include "ops/resize/weighted.h"

#include <algorithm>

#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops::resize {

namespace {

// Output index o of a row of single elements.
inline double one_of(const Taps& taps, int64_t o, const double* x) {
  const int64_t* index = taps.index.data() + o * taps.per_output;
  const double* weight = taps.weight.data() + o * taps.per_output;
  if (taps.per_output == 2) return 0.0 + weight[0] * x[index[0]] + weight[1] * x[index[1]];
  double sum = 0;
  for (int64_t k = 0; k < taps.per_output; ++k) sum += weight[k] * x[index[k]];
  return sum;
}

// y[i] = sum over k of weight[k] * x[index[k] * inner + i]
void weigh_rows(const Taps& taps, int64_t o, const double* x, int64_t inner, double* y) {
  constexpr int64_t kTogether = 8;  // a fixed length is what vectorises
  const int64_t* index = taps.index.data() + o * taps.per_output;
  const double* weight = taps.weight.data() + o * taps.per_output;
  int64_t i = 0;
  if (taps.per_output == 2) {
    const double *a = x + index[0] * inner, *b = x + index[1] * inner;
    const double u = weight[0], v = weight[1];
    for (; i + kTogether <= inner; i += kTogether) {
      for (int64_t l = 0; l < kTogether; ++l) y[i + l] = 0.0 + u * a[i + l] + v * b[i + l];
    }
    for (; i < inner; ++i) y[i] = 0.0 + u * a[i] + v * b[i];
    return;
  }
  std::fill(y, y + inner, 0.0);
  for (int64_t k = 0; k < taps.per_output; ++k) {
    const double* a = x + index[k] * inner;
    const double u = weight[k];
    for (i = 0; i + kTogether <= inner; i += kTogether) {
      for (int64_t l = 0; l < kTogether; ++l) y[i + l] += u * a[i + l];
    }
    for (; i < inner; ++i) y[i] += u * a[i];
  }
}

// Rows [begin, end) of outer * out, of `inner` elements each.
void run_pass(const Pass& pass, int64_t begin, int64_t end, const double* x, double* y,
              int64_t parts, const Outside& value) {
  const int64_t inner = pass.inner;
  int64_t a = begin / pass.out, o = begin % pass.out;
  for (int64_t row = begin; row < end; ++row) {
    const double* from = x + a * pass.in * inner;
    double* to = y + row * inner;
    if (pass.taps.outside[static_cast<size_t>(o)]) {
      for (int64_t i = 0; i < inner; ++i) to[i] = value[static_cast<size_t>(i % parts)];
    } else if (inner == 1) {
      *to = one_of(pass.taps, o, from);
    } else {
      weigh_rows(pass.taps, o, from, inner, to);
    }
    if (++o == pass.out) o = 0, ++a;
  }
}

struct Run : WeightedResize {
  // One plane after the other, each on all threads.
  void run_split(const RunArgs& args) const {
    constexpr size_t kLeast = 8192;
    auto* work = reinterpret_cast<double*>(args.workspace);
    for (int64_t plane = 0; plane < planes; ++plane) {
      double *from = work, *to = work + most;
      parallel(static_cast<size_t>(in_plane), kLeast, [&](size_t begin, size_t end) {
        load(args.inputs[0], plane * in_plane + static_cast<int64_t>(begin), 1, from + begin,
             static_cast<int64_t>(end - begin));
      });
      for (const Pass& pass : passes) {
        const size_t least = kLeast / static_cast<size_t>(std::max<int64_t>(1, pass.inner));
        parallel(static_cast<size_t>(pass.outer * pass.out), least, [&](size_t begin, size_t end) {
          run_pass(pass, static_cast<int64_t>(begin), static_cast<int64_t>(end), from, to, parts,
                   outside);
        });
        std::swap(from, to);
      }
      parallel(static_cast<size_t>(out_plane), kLeast, [&](size_t begin, size_t end) {
        store(args.outputs[0], plane * out_plane + static_cast<int64_t>(begin), from + begin,
              static_cast<int64_t>(end - begin));
      });
    }
  }

  // Planes side by side, each with its passes in scratch of its thread.
  void run_planes(const RunArgs& args) const {
    parallel_slots(threads, static_cast<size_t>(planes), [&](size_t task, size_t slot) {
      const auto plane = static_cast<int64_t>(task);
      double* from =
          reinterpret_cast<double*>(args.workspace) + static_cast<int64_t>(slot) * 2 * most;
      double* to = from + most;
      load(args.inputs[0], plane * in_plane, 1, from, in_plane);
      for (const Pass& pass : passes) {
        run_pass(pass, 0, pass.outer * pass.out, from, to, parts, outside);
        std::swap(from, to);
      }
      store(args.outputs[0], plane * out_plane, from, out_plane);
    });
  }
};

struct WeightedOnHost final : WeightedPlan {
  Status run(const RunArgs& args) const override { return work->run(args); }
  std::unique_ptr<KernelPlan> work;
};

}  // namespace

std::unique_ptr<KernelPlan> plan_weighted_resize(WeightedResize resize) {
  const size_t threads = resize.threads;
  const bool split = resize.planes < static_cast<int64_t>(threads);
  const size_t buffers = split ? 1 : threads;
  const auto bytes = buffers * 2 * static_cast<size_t>(resize.most) * sizeof(double);
  auto plan = std::make_unique<WeightedOnHost>();
  plan->resize = resize;
  plan->work = make_plan([run = Run{std::move(resize)}, split](const RunArgs& args) {
    if (run.planes * run.out_plane == 0) return;
    if (split) {
      run.run_split(args);
    } else {
      run.run_planes(args);
    }
  });
  plan->workspace_bytes = bytes;
  return plan;
}

}  // namespace anynpu::ops::resize
