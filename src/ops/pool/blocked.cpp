// SPDX-License-Identifier: Apache-2.0
// Pooling over blocked channels: f32, and bf16 on AVX-512; one to three spatial dimensions for the
// global forms, one or two for the others. Takes plain inputs by asking for a conversion only when
// there are blocks to fill.
#include <algorithm>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/pool/pool.h"
#include "ops/simd/lanes.h"
#include "ops/simd/lanes_bf16.h"

namespace anynpu::ops::pool {

namespace {

// The window as two dimensions; a global one of any rank is a single long row.
Result<PoolShape> flat_pool(const OpContext& context) {
  ANYNPU_ASSIGN(PoolShape pool, pool_shape_of(context));
  Window& w = pool.window;
  if (context.schema->name.starts_with("Global")) {
    const int64_t rows = w.in[0], columns = element_count({w.in.begin() + 1, w.in.end()});
    w = {{rows, columns}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {rows, columns}, {1, 1}};
    return pool;
  }
  if (w.dims() == 1) {
    const auto lead = [](std::vector<int64_t>& list, int64_t value) {
      list.insert(list.begin(), value);
    };
    lead(w.kernel, 1), lead(w.stride, 1), lead(w.dilation, 1), lead(w.pad_begin, 0);
    lead(w.pad_end, 0), lead(w.in, 1), lead(w.out, 1);
  }
  return pool;
}

// T is the type of elements, Row the rows of lanes over it.
template <typename T, typename Row>
PlanResult plan_pool_rows(const PoolShape& pool, void (*row_function)(const Row&)) {
  const int64_t blocks = ceil_div(pool.channels, kBlock);
  auto plan = make_plan([=](const RunArgs& args) {
    const Window& w = pool.window;
    Row r;
    r.in_h = w.in[0], r.in_w = w.in[1], r.out_w = w.out[1];
    r.x = -w.pad_begin[1];
    r.kernel_h = w.kernel[0], r.kernel_w = w.kernel[1], r.stride_w = w.stride[1];
    r.dilation_h = w.dilation[0], r.dilation_w = w.dilation[1];
    r.count_pads = pool.count_pads;
    r.count_h = w.in[0] + w.pad_end[0], r.count_w = w.in[1] + w.pad_end[1];
    const auto rows = static_cast<size_t>(pool.batch * blocks * w.out[0]);
    const int64_t work = w.out[1] * w.kernel[0] * w.kernel[1];
    const auto least = static_cast<size_t>(std::max<int64_t>(1, 2048 / std::max<int64_t>(1, work)));
    parallel(rows, least, [&](size_t begin, size_t end) {
      Row row = r;
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t block = i / w.out[0];
        row.in = input_of<T>(args, 0) + block * w.in[0] * w.in[1] * kBlock;
        row.out = output_of<T>(args, 0) + i * w.out[1] * kBlock;
        row.y = i % w.out[0] * w.stride[0] - w.pad_begin[0];
        row_function(row);
      }
    });
  });
  plan->input_layouts = {Layout::blocked16};
  plan->output_layouts = {Layout::blocked16};
  return plan;
}

class BlockedPool final : public Kernel {
 public:
  explicit BlockedPool(const LaneSet& lanes) : lanes_(lanes) {}
  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const PoolShape pool, flat_pool(context));
    const bool max = pool.kind == PoolKind::max;
    if (context.inputs[0].dtype == DType::bf16) {
      const ShortLaneSet& lanes = short_lane_set();
      return plan_pool_rows<BF16>(pool, max ? lanes.max_rows : lanes.average_rows);
    }
    return plan_pool_rows<float>(pool, max ? lanes_.max_row : lanes_.average_row);
  }

 private:
  const LaneSet& lanes_;
};

}  // namespace

template <Isa isa>
Status can_run_blocked_pool(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  const Operand& x = context.inputs[0];
  if (context.outputs.size() > 1) return fail(Code::unsupported_feature, "indices are asked for");
  if (x.dtype == DType::bf16 && x.layout == Layout::plain) {
    return fail(Code::unsupported_feature, "takes bfloat16 in blocks only");
  }
  if (!can_block(x)) return fail(Code::unsupported_shape, "shape {}", to_string(x.shape));
  if (x.rank() > 4 && !context.schema->name.starts_with("Global")) {
    return fail(Code::unsupported_shape, "{} spatial dimensions, takes 1 or 2", x.rank() - 2);
  }
  if (x.layout == Layout::plain && x.shape[1] < kBlock) {
    return fail(Code::unsupported_shape, "{} channels do not fill a block of {}", x.shape[1],
                kBlock);
  }
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_blocked_pool(const OpContext& context) {
  return std::unique_ptr<Kernel>(std::make_unique<BlockedPool>(lane_set(isa)));
}

template Status can_run_blocked_pool<Isa::avx512>(const OpContext&);
template Status can_run_blocked_pool<Isa::avx2>(const OpContext&);
template Status can_run_blocked_pool<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_blocked_pool<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_blocked_pool<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_blocked_pool<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::pool
