// SPDX-License-Identifier: Apache-2.0
// MaxPool of bytes over blocked channels, as quantised networks have it: 16 channels at a time.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/pool/pool.h"

namespace anynpu::ops::pool {

namespace {

// A row of output pixels: the greatest of what each sees in one row of the input.
template <typename T>
struct ByteRow {
  using Channels [[gnu::vector_size(kBlock)]] = T;
  const T* in = nullptr;
  int64_t in_w = 0, out_w = 0, stride = 1, dilation = 1, taps = 1, pad = 0;

  void widen(T* out) const {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t shift = tap * dilation - pad;
      // Outputs whose input x * stride + shift is inside.
      const int64_t begin = shift >= 0 ? 0 : ceil_div(-shift, stride);
      const int64_t last = in_w - 1 - shift;
      const int64_t end = std::min(out_w, last < 0 ? 0 : last / stride + 1);
      for (int64_t x = begin; x < end; ++x) {
        Channels a, b;
        std::memcpy(&a, in + (x * stride + shift) * kBlock, sizeof(a));
        std::memcpy(&b, out + x * kBlock, sizeof(b));
        b = a > b ? a : b;
        std::memcpy(out + x * kBlock, &b, sizeof(b));
      }
    }
  }
};

template <typename T>
PlanResult plan_byte_pool(const OpContext& context) {
  ANYNPU_ASSIGN(const PoolShape p, pool_shape_of(context));
  const Window& w = p.window;
  const size_t across = w.dims() - 1;
  const bool flat = across == 0;
  const int64_t in_h = flat ? 1 : w.in[0], out_h = flat ? 1 : w.out[0];
  const int64_t taps = flat ? 1 : w.kernel[0], stride = flat ? 1 : w.stride[0];
  const int64_t dilation = flat ? 1 : w.dilation[0], top = flat ? 0 : w.pad_begin[0];
  ByteRow<T> shape;
  shape.in_w = w.in[across], shape.out_w = w.out[across], shape.stride = w.stride[across];
  shape.dilation = w.dilation[across], shape.taps = w.kernel[across];
  shape.pad = w.pad_begin[across];
  const int64_t planes = p.batch * ceil_div(p.channels, kBlock);
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(planes * out_h), 4, [&](size_t begin, size_t end) {
      ByteRow<T> row = shape;
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t plane = i / out_h, y = i % out_h;
        T* out = output_of<T>(args, 0) + i * row.out_w * kBlock;
        std::fill(out, out + row.out_w * kBlock, std::numeric_limits<T>::min());
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t at = y * stride + tap * dilation - top;
          if (at < 0 || at >= in_h) continue;
          row.in = input_of<T>(args, 0) + (plane * in_h + at) * row.in_w * kBlock;
          row.widen(out);
        }
      }
    });
  });
  plan->input_layouts = plan->output_layouts = {Layout::blocked16};
  return plan;
}

}  // namespace

Status can_run_byte_pool(const OpContext& context) {
  ANYNPU_ASSIGN(const PoolShape p, pool_shape_of(context));
  if (p.kind != PoolKind::max || context.outputs.size() > 1 || p.window.dims() > 2) {
    return fail(Code::unsupported_feature,
                "takes the maximum over one or two axes, without its positions");
  }
  return {};
}

Result<std::unique_ptr<Kernel>> create_byte_pool(const OpContext& context) {
  return context.inputs[0].dtype == DType::u8 ? create_plain<plan_byte_pool<uint8_t>>(context)
                                              : create_plain<plan_byte_pool<int8_t>>(context);
}

}  // namespace anynpu::ops::pool
