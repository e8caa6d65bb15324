// SPDX-License-Identifier: Apache-2.0
// Pooling in any number of spatial dimensions, plain layout: the oracle of the others.
#include <limits>

#include "ops/elements/order.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/pool/pool.h"
#include "tensor/element.h"
#include "tensor/shape.h"

namespace anynpu::ops::pool {

namespace {

constexpr size_t kMaxDims = 6;

// The position of one tap of one window.
struct Tap {
  int64_t offset = 0;        // row-major in the input plane
  int64_t column_major = 0;  // the same counted the other way (storage_order = 1)
  bool inside = true;        // in the input
  bool counted = true;       // in the input or its pads: what count_include_pad counts
};

Tap tap_at(const Window& w, int64_t position, int64_t tap) {
  Tap result;
  int64_t at[kMaxDims] = {};
  for (size_t i = w.dims(); i-- > 0;) {
    at[i] =
        (position % w.out[i]) * w.stride[i] + (tap % w.kernel[i]) * w.dilation[i] - w.pad_begin[i];
    position /= w.out[i];
    tap /= w.kernel[i];
    if (at[i] < 0 || at[i] >= w.in[i]) result.inside = false;
    if (at[i] >= w.in[i] + w.pad_end[i]) result.counted = false;
  }
  for (size_t i = 0; i < w.dims(); ++i) result.offset = result.offset * w.in[i] + at[i];
  for (size_t i = w.dims(); i-- > 0;) result.column_major = result.column_major * w.in[i] + at[i];
  return result;
}

template <typename T>
struct ReferencePool {
  PoolShape pool;
  bool column_major = false;

  void plane(const T* x, T* y, int64_t* indices, int64_t first_index) const {
    const int64_t positions = element_count(pool.window.out),
                  taps = element_count(pool.window.kernel);
    for (int64_t p = 0; p < positions; ++p) {
      double sum = 0;
      int64_t count = 0, best = -1, best_index = 0;
      for (int64_t t = 0; t < taps; ++t) {
        const Tap tap = tap_at(pool.window, p, t);
        if (tap.counted && (tap.inside || pool.count_pads)) ++count;
        if (!tap.inside) continue;
        const auto value = Element<T>::load(x[tap.offset]);
        sum += static_cast<double>(value);
        if (best < 0 || value > Element<T>::load(x[best]) || is_nan(value)) {
          best = tap.offset;
          best_index = column_major ? tap.column_major : tap.offset;
          if (is_nan(value) && pool.kind == PoolKind::max) break;  // NaN wins and stays
        }
      }
      if (pool.kind == PoolKind::average) {
        y[p] = Element<T>::store(count > 0 ? sum / static_cast<double>(count) : 0.0);
      } else {
        y[p] = best < 0 ? T{} : x[best];
        if (indices) indices[p] = first_index + best_index;
      }
    }
  }

  void operator()(const RunArgs& args) const {
    const int64_t in = element_count(pool.window.in), out = element_count(pool.window.out);
    parallel(static_cast<size_t>(pool.batch * pool.channels), 1, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        int64_t* indices = args.outputs.size() > 1 && args.outputs[1]
                               ? output_of<int64_t>(args, 1) + i * out
                               : nullptr;
        plane(input_of<T>(args, 0) + i * in, output_of<T>(args, 0) + i * out, indices, i * in);
      }
    });
  }
};

PlanResult plan_pool(const OpContext& context) {
  ANYNPU_ASSIGN(PoolShape pool, pool_shape_of(context));
  if (pool.window.dims() > kMaxDims) {
    return fail(Code::unsupported_shape, "{}: {} spatial dimensions, expected at most {}",
                context.label(), pool.window.dims(), kMaxDims);
  }
  const bool column_major = context.int_attr("storage_order") != 0;
  std::unique_ptr<KernelPlan> plan;
  const auto make = [&](auto zero) {
    plan = make_plan(ReferencePool<decltype(zero)>{pool, column_major});
  };
  const DType type = context.inputs[0].dtype;
  if (!visit_floats(type, make) && (type == DType::i8 || type == DType::u8)) {
    visit_integers(type, make);
  }
  if (!plan) return no_kernel_for(context);
  return plan;
}

}  // namespace

Result<std::unique_ptr<Kernel>> create_pool_reference(const OpContext& context) {
  return create_plain<plan_pool>(context);
}

}  // namespace anynpu::ops::pool
