// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/transpose_overlap.h"

#include <algorithm>

#include "base/align.h"
#include "ops/conv/conv_transpose.h"
#include "ops/gemm/packed.h"
#include "ops/parallel.h"

namespace anynpu::ops::conv {

namespace {

constexpr int64_t kMostOutputs = 4;              // channels
constexpr int64_t kMostOverlapBytes = 64 << 20;  // of the product
constexpr int64_t kOverlapPiece = 2048;          // outputs of a task
constexpr size_t kMostOverlapAxes = 3;

gemm::GemmShape product_of(const TransposeShape& t) {
  gemm::GemmShape g;
  g.m = element_count(t.in), g.k = t.in_channels;
  g.n = t.out_channels * element_count(t.kernel);
  g.transpose_a = true;
  for (int64_t i = 0; i < t.batch; ++i) {
    g.batch_a.push_back(i * g.m * g.k);
    g.batch_b.push_back(0);
  }
  return g;
}

class OverlapPlan final : public KernelPlan {
 public:
  OverlapPlan(const TransposeShape& shape, bool with_bias, Isa isa, size_t threads)
      : t(shape), bias(with_bias) {
    gemm::GemmShape g = product_of(t);
    columns_bytes =
        round_up(static_cast<size_t>(t.batch * g.m * g.n) * sizeof(float), kBufferAlignment);
    product = gemm::plan_packed_gemm(std::move(g), gemm::RightSide::packed, isa, threads);
    workspace_bytes = columns_bytes + product->workspace_bytes;
  }

  Status run(const RunArgs& args) const override {
    const std::byte* const in[] = {args.inputs[0], nullptr, nullptr};
    std::byte* const columns[] = {args.workspace};
    ANYNPU_TRY(product->run({in, columns, args.packed, args.workspace + columns_bytes}));
    const int64_t row = t.out.back(), rows = element_count(t.out) / row;
    const int64_t pieces = ceil_div(row, kOverlapPiece);
    parallel_tasks(static_cast<size_t>(t.batch * t.out_channels * rows * pieces), [&](size_t task) {
      const int64_t piece = static_cast<int64_t>(task) % pieces;
      const int64_t plane = static_cast<int64_t>(task) / pieces / rows;
      const int64_t at = static_cast<int64_t>(task) / pieces % rows;
      const int64_t begin = row * piece / pieces, end = row * (piece + 1) / pieces;
      float* out = reinterpret_cast<float*>(args.outputs[0]) + (plane * rows + at) * row;
      const auto* added = reinterpret_cast<const float*>(args.inputs[bias ? 2 : 0]);
      std::fill(out + begin, out + end, bias ? added[plane % t.out_channels] : 0.0f);
      add_rows(reinterpret_cast<const float*>(args.workspace), plane, at, begin, end, out);
    });
    return {};
  }

 private:
  // Adds to outputs [begin, end) of row `at` what the taps of the other axes reach.
  void add_rows(const float* columns, int64_t plane, int64_t at, int64_t begin, int64_t end,
                float* out) const {
    const size_t last = t.in.size() - 1;
    const int64_t width = t.kernel[last], taps = element_count(t.kernel);
    const int64_t depth = t.out_channels * taps, lines = taps / width;
    for (int64_t line = 0; line < lines; ++line) {
      int64_t rest = line, place = at, from = 0, scale = 1;
      bool reached = true;
      for (size_t d = last; d-- > 0 && reached;) {
        const int64_t y = place % t.out[d] + t.pad[d] - rest % t.kernel[d] * t.dilation[d];
        place /= t.out[d], rest /= t.kernel[d];
        reached = y >= 0 && y % t.stride[d] == 0 && y / t.stride[d] < t.in[d];
        from += reached ? y / t.stride[d] * scale : 0;
        scale *= t.in[d];
      }
      if (!reached) continue;
      const int64_t image = plane / t.out_channels, channel = plane % t.out_channels;
      add_line(columns + (image * element_count(t.in) + from * t.in[last]) * depth +
                   channel * taps + line * width,
               depth, begin, end, out);
    }
  }

  // The same for one line of taps along the last axis: `columns` of its first input position.
  void add_line(const float* columns, int64_t depth, int64_t begin, int64_t end, float* out) const {
    const size_t d = t.in.size() - 1;
    const int64_t stride = t.stride[d], dilation = t.dilation[d], width = t.kernel[d];
    const int64_t reach = (width - 1) * dilation + 1;
    const int64_t first = std::max<int64_t>(0, ceil_div(begin + t.pad[d] - reach + 1, stride));
    for (int64_t x = first; x < t.in[d] && x * stride - t.pad[d] < end; ++x) {
      const int64_t at = x * stride - t.pad[d];
      const float* from = columns + x * depth;
      const int64_t low = at >= begin ? 0 : ceil_div(begin - at, dilation);
      const int64_t high = std::min(width, ceil_div(end - at, dilation));
      if (dilation == 1) {
        for (int64_t k = low; k < high; ++k) out[at + k] += from[k];
      } else {
        for (int64_t k = low; k < high; ++k) out[at + k * dilation] += from[k];
      }
    }
  }

  TransposeShape t;
  bool bias = false;
  std::unique_ptr<KernelPlan> product;
  size_t columns_bytes = 0;
};

class TransposeOverlap final : public Kernel {
 public:
  TransposeOverlap(const TransposeShape& shape, Isa isa) : shape_(shape), isa_(isa) {}
  size_t packed_bytes() const override {
    return gemm::packed_right_bytes(product_of(shape_), isa_);
  }
  bool packs_input(size_t input) const override { return input == 1; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    gemm::pack_right_side(product_of(shape_), isa_,
                          reinterpret_cast<const float*>(context.inputs[1].constant.data()),
                          packed.data());
    return {};
  }
  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const TransposeShape t, transpose_shape_of(context));
    return std::unique_ptr<KernelPlan>(
        std::make_unique<OverlapPlan>(t, context.has_input(2), isa_, context.target.threads));
  }

 private:
  TransposeShape shape_;
  Isa isa_;
};

}  // namespace

template <Isa isa>
Status can_run_transpose_overlap(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  if (!context.inputs[1].is_constant) {
    return fail(Code::unsupported_feature, "the weight is no constant");
  }
  ANYNPU_ASSIGN(const TransposeShape t, transpose_shape_of(context));
  const int64_t columns = t.out_channels * element_count(t.kernel);
  const auto bytes = static_cast<__int128>(t.batch) * element_count(t.in) * columns * 4;
  if (t.group != 1 || t.out_channels > kMostOutputs || element_count(t.stride) < 2 ||
      t.in.size() > kMostOverlapAxes || columns < 16 || t.batch == 0 || bytes > kMostOverlapBytes) {
    return fail(Code::unsupported_shape,
                "{} output channels, {} taps, stride {}: takes up to {} channels of one group and "
                "steps of more than 1",
                t.out_channels, element_count(t.kernel), t.stride, kMostOutputs);
  }
  return {};
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_transpose_overlap(const OpContext& context) {
  ANYNPU_ASSIGN(const TransposeShape t, transpose_shape_of(context));
  return std::unique_ptr<Kernel>(std::make_unique<TransposeOverlap>(t, isa));
}

template Status can_run_transpose_overlap<Isa::avx512>(const OpContext&);
template Status can_run_transpose_overlap<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_transpose_overlap<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_transpose_overlap<Isa::avx2>(const OpContext&);

}  // namespace anynpu::ops::conv
