// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over blocked channels: one filter per channel, one to three spatial
// dimensions, weights and bias constant. Bound by memory, so pads are skipped, not copied. bf16 has
// rows of its own on AVX-512; elsewhere, and f16, are widened and narrowed a few rows at a time,
// while these are in the cache.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/conv/conv.h"
#include "ops/elements/epilogue.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/simd/lanes.h"
#include "ops/simd/lanes_bf16.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::conv {

namespace {

constexpr int64_t kCachedRows = 48 << 10;  // bytes of widened input rows of a task

void read_constant(const Operand& operand, float* out, size_t count) {
  if (operand.dtype == DType::f32) {
    std::memcpy(out, operand.constant.data(), count * sizeof(float));
  } else {
    widen(operand.dtype, operand.constant.data(), out, count);
  }
}

// The order of rows, or of bands of them: [image][part of its rows][block of channels][row]. The
// convolutions before and behind share the work by parts of images as well.
struct RowOrder {
  int64_t blocks = 1, rows = 1, parts = 1;  // rows and parts of a plane

  RowOrder(size_t threads, int64_t batch, int64_t all_blocks, int64_t all_rows)
      : blocks(all_blocks), rows(all_rows) {
    const auto wanted = static_cast<int64_t>(threads);
    if (batch > 0) parts = std::clamp<int64_t>(wanted / batch, 1, std::max<int64_t>(1, rows));
  }
  struct PlaneRow {
    int64_t plane, row;
  };
  PlaneRow operator[](int64_t i) const {
    const int64_t image = i / (blocks * rows), at = i % (blocks * rows);
    int64_t part = at / blocks * parts / rows;  // right but for what rounding does
    while ((part + 1) * rows / parts * blocks <= at) ++part;
    while (part * rows / parts * blocks > at) --part;
    const int64_t first = part * rows / parts, count = (part + 1) * rows / parts - first;
    const int64_t inside = at - first * blocks;
    return {image * blocks + inside / count, first + inside % count};
  }
};

// A convolution of f16 or bf16: tasks of a few output rows of one block.
struct ShortDepthwise {
  size_t threads = 1;
  LaneRow shape;
  DType dtype = DType::undefined;
  void (*row)(const LaneRow&) = nullptr;
  int64_t planes = 0, blocks = 0, taps = 0;  // batch * blocks, blocks, kernel elements
  int64_t out_h = 0, stride_h = 1, pad_top = 0;
  int64_t rows = 1;     // output rows of a task
  int64_t in_rows = 1;  // input rows that these need at most
  bool residual = false;

  int64_t in_floats() const { return in_rows * shape.in_w * kBlock; }
  int64_t out_floats() const { return rows * shape.out_w * kBlock; }
  int64_t scratch_floats() const { return in_floats() + out_floats() * (residual ? 2 : 1); }

  void operator()(const RunArgs& args) const {
    const int64_t pieces = ceil_div(out_h, rows);
    parallel_slots(threads, static_cast<size_t>(planes * pieces), [&](size_t task, size_t slot) {
      float* scratch =
          reinterpret_cast<float*>(args.workspace) + static_cast<int64_t>(slot) * scratch_floats();
      const auto at = static_cast<int64_t>(task);
      run(args, at / pieces, at % pieces * rows, scratch);
    });
  }

  void run(const RunArgs& args, int64_t plane, int64_t first, float* scratch) const {
    const int64_t last = std::min(out_h, first + rows), in_row = shape.in_w * kBlock;
    const int64_t out_row = shape.out_w * kBlock;
    const int64_t reach = (shape.kernel_h - 1) * shape.dilation_h + 1;
    const int64_t top = std::clamp<int64_t>(first * stride_h - pad_top, 0, shape.in_h);
    const int64_t end =
        std::clamp<int64_t>((last - 1) * stride_h - pad_top + reach, top, shape.in_h);
    const auto at = [](const std::byte* data, int64_t element) { return data + element * 2; };
    widen(dtype, at(args.inputs[0], (plane * shape.in_h + top) * in_row), scratch,
          static_cast<size_t>((end - top) * in_row));
    float *out = scratch + in_floats(), *added = out + out_floats();
    const int64_t place = (plane * out_h + first) * out_row;
    const auto count = static_cast<size_t>((last - first) * out_row);
    if (residual) widen(dtype, at(args.inputs[3], place), added, count);
    const float* packed = reinterpret_cast<const float*>(args.packed);
    LaneRow r = shape;
    r.in = scratch - top * in_row;  // rows above `top` are in the pads or not needed
    r.weights = packed + plane % blocks * taps * kBlock;
    r.bias = packed + (blocks * taps + plane % blocks) * kBlock;
    for (int64_t i = first; i < last; ++i) {
      r.y = i * stride_h - pad_top;
      r.out = out + (i - first) * out_row;
      r.residual = residual ? added + (i - first) * out_row : nullptr;
      row(r);
    }
    narrow(dtype, out, args.outputs[0] + place * 2, count);
  }
};

// Where output row `y` of a plane and all it is made of lie: in a LaneRow or in ShortLaneRows.
struct WeightOffsets {
  int64_t blocks = 1, taps = 1, out_h = 1;

  template <typename T, typename PlaneRow>
  void point(PlaneRow& row, const RunArgs& args, int64_t plane, int64_t y) const {
    const int64_t block = plane % blocks, place = (plane * out_h + y) * row.out_w * kBlock;
    const T* residual = args.inputs.size() > 3 ? input_of<T>(args, 3) : nullptr;
    const float* packed = reinterpret_cast<const float*>(args.packed);
    row.in = input_of<T>(args, 0) + plane * row.in_h * row.in_w * kBlock;
    row.out = output_of<T>(args, 0) + place;
    row.residual = residual ? residual + place : nullptr;
    row.weights = packed + block * taps * kBlock;
    row.bias = packed + (blocks * taps + block) * kBlock;
  }
};

// A convolution of three axes: an output row is the sum of rows of as many slices as its kernel
// has, each of which goes on from the sums so far.
struct Slices {
  int64_t in_d = 1, out_d = 1, kernel_d = 1, stride_d = 1, dilation_d = 1, front = 0;
  int64_t out_h = 1, stride_h = 1, top = 0, blocks = 1;

  void row(void (*depthwise_row)(const LaneRow&), LaneRow shape, const RunArgs& args, int64_t plane,
           int64_t at) const {
    static constexpr float kNoBias[kBlock] = {};
    const WeightOffsets places{blocks, kernel_d * shape.kernel_h * shape.kernel_w, out_d * out_h};
    LaneRow whole = shape;
    whole.in_h = in_d * shape.in_h;  // of a plane of all slices
    places.point<float>(whole, args, plane, at);
    shape.out = whole.out, shape.residual = whole.residual, shape.bias = whole.bias;
    shape.clamp = false;
    const int64_t d = at / out_h * stride_d - front;
    int64_t first = 0, last = kernel_d;  // slices of the kernel that see the input
    while (first < kernel_d && d + first * dilation_d < 0) ++first;
    while (last > first && d + (last - 1) * dilation_d >= in_d) --last;
    shape.y = at % out_h * stride_h - top;
    if (first == last) shape.y = shape.in_h, last = first + 1;  // none: no row of any slice either
    for (int64_t slice = first; slice < last; ++slice) {
      const int64_t from = std::clamp<int64_t>(d + slice * dilation_d, 0, in_d - 1);
      shape.in = whole.in + from * shape.in_h * shape.in_w * kBlock;
      const int64_t tap = std::min(slice, kernel_d - 1);
      shape.weights = whole.weights + tap * shape.kernel_h * shape.kernel_w * kBlock;
      shape.clamp = whole.clamp && slice + 1 == last;
      depthwise_row(shape);
      shape.residual = shape.out, shape.bias = kNoBias;
    }
  }
};

class DepthwiseConv final : public Kernel {
 public:
  DepthwiseConv(int64_t channels, int64_t taps, Isa isa, bool short_rows)
      : channels_(channels),
        blocks_(ceil_div(channels, kBlock)),
        taps_(taps),
        isa_(isa),
        lanes_(lane_set(isa)),
        short_rows_(short_rows) {}

  // [block][tap][16] weights, then [block][16] biases.
  size_t packed_bytes() const override {
    return static_cast<size_t>(blocks_ * (taps_ + 1) * kBlock) * sizeof(float);
  }
  bool packs_input(size_t input) const override { return input == 1 || input == 2; }

  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    float* out = reinterpret_cast<float*>(packed.data());
    std::memset(out, 0, packed.size());
    std::vector<float> weight(static_cast<size_t>(channels_ * taps_));
    read_constant(context.inputs[1], weight.data(), weight.size());
    for (int64_t c = 0; c < channels_; ++c) {
      for (int64_t tap = 0; tap < taps_; ++tap) {
        out[(c / kBlock * taps_ + tap) * kBlock + lane(c)] =
            weight[static_cast<size_t>(c * taps_ + tap)];
      }
    }
    if (context.has_input(2)) {
      read_constant(context.inputs[2], weight.data(), static_cast<size_t>(channels_));
      for (int64_t c = 0; c < channels_; ++c) {
        out[(blocks_ * taps_ + c / kBlock) * kBlock + lane(c)] = weight[static_cast<size_t>(c)];
      }
    }
    return {};
  }

  PlanResult plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
    ANYNPU_ASSIGN(const Activation activation, activation_of(context));
    const Window& w = c.window;
    const size_t across = w.dims() - 1, down = across - 1;  // of the axes
    const bool flat = w.dims() == 1;
    LaneRow r;
    r.in_h = flat ? 1 : w.in[down], r.in_w = w.in[across], r.out_w = w.out[across];
    r.x = -w.pad_begin[across];
    r.kernel_h = flat ? 1 : w.kernel[down], r.kernel_w = w.kernel[across];
    r.stride_w = w.stride[across];
    r.dilation_h = flat ? 1 : w.dilation[down], r.dilation_w = w.dilation[across];
    r.clamp = activation.on, r.min = activation.min, r.max = activation.max;
    const int64_t out_h = flat ? 1 : w.out[down], stride_h = flat ? 1 : w.stride[down];
    const int64_t pad_top = flat ? 0 : w.pad_begin[down];
    const int64_t blocks = blocks_, taps = taps_, batch = c.batch;
    const size_t threads = context.target.threads;
    const WeightOffsets places{blocks, taps, out_h};
    const auto depthwise_row = lanes_.depthwise_row;
    const auto least =  // rows, or bands of rows, that a thread takes
        static_cast<size_t>(std::max<int64_t>(1, 2048 / std::max<int64_t>(1, r.out_w * taps)));
    if (short_rows_) {
      ShortLaneRows shape;
      shape.in_h = r.in_h, shape.in_w = r.in_w, shape.out_w = r.out_w, shape.x = r.x;
      shape.kernel_h = r.kernel_h, shape.kernel_w = r.kernel_w;
      shape.stride_h = stride_h, shape.stride_w = r.stride_w;
      shape.dilation_h = r.dilation_h, shape.dilation_w = r.dilation_w;
      constexpr float infinity = std::numeric_limits<float>::infinity();
      shape.min = r.clamp ? r.min : -infinity, shape.max = r.clamp ? r.max : infinity;
      auto plan = make_plan([=](const RunArgs& args) {
        const int64_t bands = ceil_div(out_h, kShortRows);  // of a plane
        const RowOrder order(threads, batch, blocks, bands);
        const auto rows = short_lane_set().depthwise_rows;
        parallel(static_cast<size_t>(batch * blocks * bands), least, [&](size_t begin, size_t end) {
          ShortLaneRows at = shape;
          for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
            const auto [plane, band] = order[i];
            const int64_t first = band * out_h / bands;
            at.rows = (band + 1) * out_h / bands - first;
            places.point<BF16>(at, args, plane, first);
            at.y = first * stride_h - pad_top;
            rows(at);
          }
        });
      });
      set_layouts(context, *plan);
      return plan;
    }
    if (context.inputs[0].dtype != DType::f32) {
      ShortDepthwise work;
      work.threads = threads;
      work.shape = r;
      work.dtype = context.inputs[0].dtype;
      work.row = depthwise_row;
      work.planes = element_count(context.outputs[0].shape) == 0 ? 0 : batch * blocks;
      work.blocks = blocks, work.taps = taps;
      work.out_h = out_h, work.stride_h = stride_h, work.pad_top = pad_top;
      const int64_t bytes = std::max<int64_t>(1, r.in_w * kBlock * 4 * stride_h);
      work.rows = std::clamp<int64_t>(kCachedRows / bytes, 1, std::max<int64_t>(1, out_h));
      work.in_rows = (work.rows - 1) * stride_h + (r.kernel_h - 1) * r.dilation_h + 1;
      work.in_rows = std::min(work.in_rows, r.in_h);
      work.residual = context.has_input(3);
      auto plan = make_plan(work);
      plan->workspace_bytes =
          work.threads * static_cast<size_t>(work.scratch_floats()) * sizeof(float);
      set_layouts(context, *plan);
      return plan;
    }
    ANYNPU_ASSIGN(const StepsEpilogue epilogue, StepsEpilogue::of(context, isa_));
    if (w.dims() == 3) {
      Slices slices{w.in[0], w.out[0], w.kernel[0], w.stride[0], w.dilation[0], w.pad_begin[0]};
      slices.out_h = out_h, slices.stride_h = stride_h, slices.top = pad_top;
      slices.blocks = blocks;
      auto plan = make_plan([=](const RunArgs& args) {
        const int64_t rows = slices.out_d * out_h;
        const RowOrder order(threads, batch, blocks, rows);
        parallel(static_cast<size_t>(batch * blocks * rows), least, [&](size_t begin, size_t end) {
          for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
            const auto [plane, at] = order[i];
            slices.row(depthwise_row, r, args, plane, at);
            const int64_t place = (plane * rows + at) * r.out_w * kBlock;
            if (epilogue) epilogue.apply(output_of<float>(args, 0) + place, r.out_w * kBlock);
          }
        });
      });
      set_layouts(context, *plan);
      return plan;
    }
    auto plan = make_plan([=](const RunArgs& args) {
      const RowOrder order(threads, batch, blocks, out_h);
      parallel(static_cast<size_t>(batch * blocks * out_h), least, [&](size_t begin, size_t end) {
        LaneRow row = r;
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const auto [plane, y] = order[i];
          places.point<float>(row, args, plane, y);
          row.y = y * stride_h - pad_top;
          depthwise_row(row);
          if (epilogue) epilogue.apply(row.out, row.out_w * kBlock);
        }
      });
    });
    set_layouts(context, *plan);
    return plan;
  }

 private:
  // The position of channel `c` in its block of packed weights.
  int64_t lane(int64_t c) const { return short_rows_ ? short_lane(c % kBlock) : c % kBlock; }

  static void set_layouts(const OpContext& context, KernelPlan& plan) {
    plan.input_layouts = {Layout::blocked16, Layout::plain, Layout::plain, Layout::blocked16};
    plan.output_layouts = {Layout::blocked16};
    plan.in_place_input = context.has_input(3) ? 3 : -1;
  }

  int64_t channels_, blocks_, taps_;
  Isa isa_;
  const LaneSet& lanes_;
  bool short_rows_;  // bf16 by rows of its own
};

}  // namespace

template <Isa isa>
Status can_run_depthwise_conv(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  if (c.group != c.in_channels || c.out_channels != c.in_channels) {
    return fail(Code::unsupported_shape, "{} groups for {} channels, takes one filter per channel",
                c.group, c.in_channels);
  }
  const bool wide = context.inputs[0].dtype == DType::f32;
  if (c.window.dims() > (wide ? 3 : 2)) {
    return fail(Code::unsupported_shape, "{} spatial dimensions, takes 1 or 2, of float32 3",
                c.window.dims());
  }
  return context.check_constants(1, 2, "weight or bias");
}

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_depthwise_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  const DType type = context.inputs[0].dtype;
  std::unique_ptr<Kernel> kernel =
      std::make_unique<DepthwiseConv>(c.out_channels, element_count(c.window.kernel), isa,
                                      isa == Isa::avx512 && type == DType::bf16);
  if (type == DType::f32) return kernel;
  return add_epilogue(context, std::move(kernel));
}

template Status can_run_depthwise_conv<Isa::avx512>(const OpContext&);
template Status can_run_depthwise_conv<Isa::avx2>(const OpContext&);
template Status can_run_depthwise_conv<Isa::baseline>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_depthwise_conv<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_depthwise_conv<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_depthwise_conv<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::conv
