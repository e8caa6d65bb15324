// SPDX-License-Identifier: Apache-2.0
// Pooling of plain f32 tensors of one to three spatial dimensions, an output row at a time: the
// rows under the kernel are folded into one line, then shifted copies of the line into the result.
// Blocked inputs stay with blocked.cpp.
#include <algorithm>
#include <array>
#include <limits>

#include "ops/elements/map_elements.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/pool/pool.h"
#include "ops/simd/lanes.h"
#include "ops/simd/rows.h"
#include "tensor/shape.h"

namespace anynpu::ops::pool {

namespace {

constexpr size_t kDims = 3;
constexpr int64_t kMostTaps = 64;       // rows under the kernel, and its columns
constexpr int64_t kLongestLine = 4096;  // with the pads

// One dimension of the window; those a tensor lacks have extents of 1.
struct Side {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;

  int64_t begin(int64_t o) const { return o * stride - pad_begin; }
  // Taps of output `o` inside the input, or, with pads, inside it or its pads.
  int64_t taps(int64_t o, bool pads) const {
    int64_t count = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t at = begin(o) + k * dilation;
      count += pads ? at < in + pad_end : at >= 0 && at < in;
    }
    return count;
  }
  // Elements of a line that covers every window.
  int64_t line() const {
    return std::max(pad_begin + in, (out - 1) * stride + (kernel - 1) * dilation + 1);
  }
};

std::array<Side, kDims> sides_of(const Window& w) {
  std::array<Side, kDims> sides;
  for (size_t i = 0; i < w.dims(); ++i) {
    sides[kDims - w.dims() + i] = {w.in[i],       w.out[i],       w.kernel[i], w.stride[i],
                                   w.dilation[i], w.pad_begin[i], w.pad_end[i]};
  }
  return sides;
}

bool is_global(const OpContext& context) { return context.schema->name.starts_with("Global"); }

struct PlainPool {
  PoolKind kind;
  bool count_pads;
  int64_t planes;
  std::array<Side, kDims> sides;
  std::vector<float> counts;  // per output column: what the taps of a row are multiplied by
  std::vector<size_t> empty;  // columns whose windows lie beside the input
  const LaneSet* lanes;

  // One output row. `line` holds neutral elements around the input's columns.
  void row(const float* plane, int64_t deep, int64_t high, float* line, float* spread,
           float* y) const {
    const auto& [d, h, w] = sides;
    const auto fold = kind == PoolKind::max ? lanes->max_of_rows : lanes->sum_of_rows;
    const float* taps[kMostTaps];
    int64_t n = 0;
    for (int64_t i = 0; i < d.kernel; ++i) {
      const int64_t z = d.begin(deep) + i * d.dilation;
      for (int64_t j = 0; j < h.kernel; ++j) {
        const int64_t v = h.begin(high) + j * h.dilation;
        if (z >= 0 && z < d.in && v >= 0 && v < h.in) taps[n++] = plane + (z * h.in + v) * w.in;
      }
    }
    const int64_t rows =
        kind == PoolKind::average && count_pads ? d.taps(deep, true) * h.taps(high, true) : n;
    if (n == 0) {
      std::fill_n(y, w.out, 0.0f);
      return;
    }
    fold(taps, n, line + w.pad_begin, w.in);
    for (int64_t k = 0; k < w.kernel; ++k) taps[k] = line + k * w.dilation;
    fold(taps, w.kernel, w.stride == 1 ? y : spread, (w.out - 1) * w.stride + 1);
    const auto columns = static_cast<size_t>(w.out);
    if (w.stride == 2) {  // a loop of its own becomes vector instructions
      map_elements(columns, [=](size_t o) { y[o] = spread[2 * o]; });
    } else if (w.stride != 1) {
      for (int64_t o = 0; o < w.out; ++o) y[o] = spread[o * w.stride];
    }
    if (kind == PoolKind::average) {
      const auto factor = static_cast<float>(rows);
      const float* count = counts.data();
      map_elements(columns, [=](size_t o) { y[o] /= count[o] * factor; });
    }
    for (size_t o : empty) y[o] = 0;
  }

  void operator()(const RunArgs& args) const {
    const auto& [d, h, w] = sides;
    const int64_t in = d.in * h.in * w.in, rows = d.out * h.out;
    const float neutral = kind == PoolKind::max ? -std::numeric_limits<float>::infinity() : 0.0f;
    const int64_t work = w.out * w.kernel * h.kernel * d.kernel;
    const auto least = static_cast<size_t>(1 + 16384 / (work + 1));
    parallel(static_cast<size_t>(planes * rows), least, [&](size_t begin, size_t end) {
      alignas(kBufferAlignment) float line[kLongestLine], spread[kLongestLine];
      std::fill_n(line, w.line(), neutral);
      const auto first = static_cast<int64_t>(begin);
      const float* plane = input_of<float>(args, 0) + first / rows * in;
      int64_t deep = first % rows / h.out, high = first % h.out;
      for (int64_t i = first; i < static_cast<int64_t>(end); ++i) {
        row(plane, deep, high, line, spread, output_of<float>(args, 0) + i * w.out);
        if (++high < h.out) continue;
        high = 0;
        if (++deep < d.out) continue;
        deep = 0;
        plane += in;
      }
    });
  }
};

template <Isa isa>
PlanResult plan_plain_pool(const OpContext& context) {
  ANYNPU_ASSIGN(const PoolShape pool, pool_shape_of(context));
  const int64_t planes = pool.batch * pool.channels;
  if (is_global(context)) {
    const int64_t length = element_count(pool.window.in);
    const RowSet& rows = row_set(isa);
    return make_plan([=, &rows](const RunArgs& args) {
      const auto least = static_cast<size_t>(1 + 16384 / (length + 1));
      parallel(static_cast<size_t>(planes), least, [&](size_t begin, size_t end) {
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const double sum = rows.sum(input_of<float>(args, 0) + i * length, length);
          output_of<float>(args, 0)[i] = static_cast<float>(sum / static_cast<double>(length));
        }
      });
    });
  }
  PlainPool plain{pool.kind, pool.count_pads, planes, sides_of(pool.window), {},
                  {},        &lane_set(isa)};
  const Side& w = plain.sides.back();
  const bool pads = pool.kind == PoolKind::average && pool.count_pads;
  for (int64_t o = 0; o < w.out; ++o) {
    plain.counts.push_back(static_cast<float>(std::max<int64_t>(1, w.taps(o, pads))));
    if (w.taps(o, false) == 0) plain.empty.push_back(static_cast<size_t>(o));
  }
  return make_plan(std::move(plain));
}

}  // namespace

template <Isa isa>
Status can_run_plain_pool(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  const Operand& x = context.inputs[0];
  if (context.outputs.size() > 1) return fail(Code::unsupported_feature, "indices are asked for");
  if (x.layout != Layout::plain) return fail(Code::unsupported_feature, "the input is blocked");
  ANYNPU_ASSIGN(const PoolShape pool, pool_shape_of(context));
  if (is_global(context)) {
    if (pool.kind == PoolKind::average && element_count(pool.window.in) > 0) return {};
    return fail(Code::unsupported_feature, "takes averages over the whole plane only");
  }
  if (pool.window.dims() > kDims) {
    return fail(Code::unsupported_shape, "{} spatial dimensions, takes {}", pool.window.dims(),
                kDims);
  }
  const auto sides = sides_of(pool.window);
  if (sides[0].kernel * sides[1].kernel > kMostTaps || sides[2].kernel > kMostTaps ||
      sides[2].line() > kLongestLine) {
    return fail(Code::unsupported_shape,
                "a window of more than {} rows or columns, or a row of "
                "more than {}",
                kMostTaps, kLongestLine);
  }
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_plain_pool(const OpContext& context) {
  return create_plain<plan_plain_pool<isa>>(context);
}

template Status can_run_plain_pool<Isa::avx512>(const OpContext&);
template Status can_run_plain_pool<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_plain_pool<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_plain_pool<Isa::avx2>(const OpContext&);

}  // namespace anynpu::ops::pool
