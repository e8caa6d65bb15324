// SPDX-License-Identifier: Apache-2.0
// Convolution in any number of spatial dimensions, written to be read: the oracle of the others.
#include <algorithm>

#include "ops/conv/conv.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "tensor/element.h"
#include "tensor/shape.h"

namespace anynpu::ops::conv {

namespace {

template <typename T>
struct ReferenceConv {
  ConvShape c;
  Activation activation;

  // One output plane: image n, output channel o.
  void plane(const RunArgs& args, int64_t n, int64_t o) const {
    const int64_t in_plane = element_count(c.window.in), out_plane = element_count(c.window.out);
    const int64_t taps = element_count(c.window.kernel), channels = c.in_channels / c.group;
    const int64_t first = o / (c.out_channels / c.group) * channels;
    const T* x = input_of<T>(args, 0) + (n * c.in_channels + first) * in_plane;
    const T* w = input_of<T>(args, 1) + o * channels * taps;
    const T* bias = args.inputs.size() > 2 ? input_of<T>(args, 2) : nullptr;
    const T* add = args.inputs.size() > 3 ? input_of<T>(args, 3) : nullptr;
    T* y = output_of<T>(args, 0) + (n * c.out_channels + o) * out_plane;
    if (add) add += (n * c.out_channels + o) * out_plane;
    for (int64_t p = 0; p < out_plane; ++p) {
      double sum = bias ? static_cast<double>(Element<T>::load(bias[o])) : 0.0;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t offset = c.window.tap_offset(p, tap);
        if (offset < 0) continue;
        for (int64_t k = 0; k < channels; ++k) {
          sum += static_cast<double>(Element<T>::load(x[k * in_plane + offset])) *
                 static_cast<double>(Element<T>::load(w[k * taps + tap]));
        }
      }
      if (add) sum += static_cast<double>(Element<T>::load(add[p]));
      if (activation.on) {  // in this order NaN stays NaN
        if (sum < activation.min) sum = activation.min;
        if (sum > activation.max) sum = activation.max;
      }
      y[p] = Element<T>::store(sum);
    }
  }

  void operator()(const RunArgs& args) const {
    parallel(static_cast<size_t>(c.batch * c.out_channels), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        plane(args, static_cast<int64_t>(i) / c.out_channels,
              static_cast<int64_t>(i) % c.out_channels);
      }
    });
  }
};

PlanResult plan_conv(const OpContext& context) {
  ANYNPU_ASSIGN(ConvShape c, conv_shape_of(context));
  ANYNPU_ASSIGN(const Activation activation, activation_of(context));
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    plan = make_plan(ReferenceConv<decltype(zero)>{c, activation});
  });
  if (!plan) return no_kernel_for(context);
  return plan;
}

}  // namespace

Result<std::unique_ptr<Kernel>> create_conv_reference(const OpContext& context) {
  return create_plain<plan_conv>(context);
}

}  // namespace anynpu::ops::conv
