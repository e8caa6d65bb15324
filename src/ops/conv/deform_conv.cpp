// SPDX-License-Identifier: Apache-2.0
// DeformConv of images: each tap of the kernel is moved by its own offset and read between pixels.
#include <algorithm>
#include <cmath>

#include "base/align.h"
#include "ops/conv/conv.h"
#include "ops/gemm/packed.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/window.h"
#include "tensor/element.h"

namespace anynpu::ops::conv {

namespace {

struct Problem {
  Window window;
  int64_t batch = 0, channels = 0, outputs = 0, group = 1, offset_group = 1;
};

Result<Problem> problem_of(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &w = context.inputs[1].shape,
              &offset = context.inputs[2].shape;
  Problem p;
  p.group = context.int_attr("group"), p.offset_group = context.int_attr("offset_group");
  bool fits =
      x.size() == 4 && w.size() == 4 && offset.size() == 4 && p.group >= 1 && p.offset_group >= 1;
  fits = fits && w[1] * p.group == x[1] && w[0] % p.group == 0 && x[1] % p.offset_group == 0;
  if (fits) {
    p.batch = x[0], p.channels = x[1], p.outputs = w[0];
    ANYNPU_ASSIGN(p.window, window_of(context, {x[2], x[3]}, {w[2], w[3]}));
    const int64_t taps = p.offset_group * w[2] * w[3];
    const Shape& out = p.window.out;
    fits = offset == Shape{x[0], 2 * taps, out[0], out[1]} &&
           (!context.has_input(3) || context.inputs[3].shape == Shape{w[0]}) &&
           (!context.has_input(4) || context.inputs[4].shape == Shape{x[0], taps, out[0], out[1]});
  }
  if (!fits) {
    return fail(Code::shape_mismatch,
                "{}: input {}, weight {} and offset {} (or bias, mask) do not fit; expected images",
                context.label(), to_string(x), to_string(w), to_string(offset));
  }
  return p;
}

Status deform_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const Problem p, problem_of(context));
  return set_output(context, 0, x.dtype, {p.batch, p.outputs, p.window.out[0], p.window.out[1]});
}

constexpr int64_t kPixels = 16;  // output pixels that are done together

// The four pixels around a place and their weights; -1 for those outside.
struct Corners {
  int64_t at[4] = {-1, -1, -1, -1};
  double weight[4] = {};
};

Corners corners_of(const Window& w, double y, double z) {
  Corners found;
  if (!(y > -1 && y < static_cast<double>(w.in[0]) && z > -1 && z < static_cast<double>(w.in[1])))
    return found;
  for (int corner = 0; corner < 4; ++corner) {
    const auto i = static_cast<int64_t>(std::floor(y)) + corner / 2,
               j = static_cast<int64_t>(std::floor(z)) + corner % 2;
    if (i < 0 || j < 0 || i >= w.in[0] || j >= w.in[1]) continue;
    found.at[corner] = i * w.in[1] + j;
    found.weight[corner] =
        (1 - std::fabs(y - static_cast<double>(i))) * (1 - std::fabs(z - static_cast<double>(j)));
  }
  return found;
}

// What the moved taps read is computed once for some pixels and used by all output channels of a
// group. Sums are in double.
template <typename T>
struct Deform {
  Problem p;
  bool bias = false, masked = false;
  size_t threads = 1;

  int64_t taps() const { return p.window.kernel[0] * p.window.kernel[1]; }
  int64_t pixels() const { return p.window.out[0] * p.window.out[1]; }
  int64_t group_in() const { return p.channels / p.group; }
  int64_t group_out() const { return p.outputs / p.group; }
  int64_t scratch_doubles() const {
    return group_in() * taps() * kPixels;
  }  // of a thread, in doubles

  static double read(const RunArgs& args, size_t input, int64_t at) {
    return static_cast<double>(Element<T>::load(input_of<T>(args, input)[at]));
  }

  // columns[channel][tap][pixel] of the pixels from `first` on.
  void gather(const RunArgs& args, int64_t n, int64_t group, int64_t first, int64_t count,
              double* columns) const {
    const Window& w = p.window;
    const int64_t by_part = p.channels / p.offset_group, plane = w.in[0] * w.in[1];
    const int64_t begin = group * group_in(), end = begin + group_in();
    for (int64_t part = begin / by_part; part * by_part < end; ++part) {
      const int64_t from = std::max(begin, part * by_part), to = std::min(end, from + by_part);
      for (int64_t tap = 0; tap < taps(); ++tap) {
        const int64_t at = (n * p.offset_group + part) * taps() + tap;
        for (int64_t k = 0; k < count; ++k) {
          const int64_t pixel = first + k;
          const double y = static_cast<double>(pixel / w.out[1] * w.stride[0] - w.pad_begin[0] +
                                               tap / w.kernel[1] * w.dilation[0]) +
                           read(args, 2, 2 * at * pixels() + pixel);
          const double z = static_cast<double>(pixel % w.out[1] * w.stride[1] - w.pad_begin[1] +
                                               tap % w.kernel[1] * w.dilation[1]) +
                           read(args, 2, (2 * at + 1) * pixels() + pixel);
          const Corners corners = corners_of(w, y, z);
          const double factor = masked ? read(args, 4, at * pixels() + pixel) : 1;
          const T* x = input_of<T>(args, 0) + (n * p.channels + from) * plane;
          double* column = columns + ((from - begin) * taps() + tap) * kPixels + k;
          for (int64_t c = from; c < to; ++c, x += plane, column += taps() * kPixels) {
            double sum = 0;
            for (int i = 0; i < 4; ++i) {
              if (corners.at[i] >= 0)
                sum += corners.weight[i] * static_cast<double>(Element<T>::load(x[corners.at[i]]));
            }
            *column = factor * sum;
          }
        }
      }
    }
  }

  void operator()(const RunArgs& args) const {
    const int64_t blocks = ceil_div(pixels(), kPixels), depth = group_in() * taps();
    const auto tasks = static_cast<size_t>(p.batch * p.group * blocks);
    parallel_slots(threads, tasks, [&](size_t task, size_t slot) {
      const auto i = static_cast<int64_t>(task);
      const int64_t n = i / blocks / p.group, group = i / blocks % p.group;
      const int64_t first = i % blocks * kPixels, count = std::min(kPixels, pixels() - first);
      double* columns =
          reinterpret_cast<double*>(args.workspace) + slot * static_cast<size_t>(scratch_doubles());
      if (count < kPixels) std::fill_n(columns, scratch_doubles(), 0.0);  // it is multiplied whole
      gather(args, n, group, first, count, columns);
      for (int64_t m = group * group_out(); m < (group + 1) * group_out(); ++m) {
        double sum[kPixels];
        std::fill_n(sum, kPixels, bias ? read(args, 3, m) : 0.0);
        for (int64_t k = 0; k < depth; ++k) {
          const double weight = read(args, 1, m * depth + k);
          for (int64_t l = 0; l < kPixels; ++l) sum[l] += weight * columns[k * kPixels + l];
        }
        T* y = output_of<T>(args, 0) + (n * p.outputs + m) * pixels() + first;
        for (int64_t l = 0; l < count; ++l) y[l] = Element<T>::store(sum[l]);
      }
    });
  }
};

PlanResult plan_deform(const OpContext& context) {
  ANYNPU_ASSIGN(const Problem p, problem_of(context));
  std::unique_ptr<KernelPlan> plan;
  visit_floats(context.inputs[0].dtype, [&](auto zero) {
    const Deform<decltype(zero)> deform{p, context.has_input(3), context.has_input(4),
                                        context.target.threads};
    plan = make_plan(deform);
    plan->workspace_bytes =
        context.target.threads * static_cast<size_t>(deform.scratch_doubles()) * sizeof(double);
  });
  if (!plan) return no_kernel_for(context);
  return plan;
}

// float32: what the moved taps read becomes a matrix of taps times pixels, which the filters are
// multiplied with. Places are computed in double and once for all channels, sums in float.
class FloatDeformPlan final : public KernelPlan {
 public:
  FloatDeformPlan(const Problem& problem, bool with_bias, bool with_mask, Isa isa, size_t threads)
      : p(problem), bias(with_bias), masked(with_mask) {
    gemm::GemmShape g;
    g.m = p.outputs / p.group, g.n = pixels(), g.k = depth();
    g.has_c = bias;
    g.c_row = 1;
    g.batch_a = g.batch_b = {0};
    product = gemm::plan_packed_gemm(std::move(g), gemm::RightSide::plain, isa, threads);
    columns_bytes =
        round_up(static_cast<size_t>(depth() * pixels()) * sizeof(float), kBufferAlignment);
    samples_bytes =
        round_up(static_cast<size_t>(p.offset_group * taps() * pixels()) * sizeof(TapSample),
                 kBufferAlignment);
    workspace_bytes = columns_bytes + samples_bytes + product->workspace_bytes;
    slots = threads;
    add_thread_scratch(threads, static_cast<size_t>(line() * (p.window.in[0] + 4)) * sizeof(float));
  }

  Status run(const RunArgs& args) const override {
    std::byte* const rest = args.workspace + columns_bytes + samples_bytes;
    for (int64_t n = 0; n < p.batch; ++n) {
      parallel_tasks(static_cast<size_t>(p.offset_group * taps()),
                     [&](size_t task) { find_samples(args, n, static_cast<int64_t>(task)); });
      for (int64_t group = 0; group < p.group; ++group) {
        const int64_t outputs = p.outputs / p.group, channels = p.channels / p.group;
        parallel_slots(slots, static_cast<size_t>(channels), [&](size_t task, size_t slot) {
          gather(args, n, group * channels + static_cast<int64_t>(task), static_cast<int64_t>(task),
                 reinterpret_cast<float*>(thread_scratch(args, slot)));
        });
        const float* w = input_of<float>(args, 1) + group * outputs * depth();
        const float* added = bias ? input_of<float>(args, 3) + group * outputs : nullptr;
        float* y = output_of<float>(args, 0) + (n * p.outputs + group * outputs) * pixels();
        const std::byte* const in[] = {reinterpret_cast<const std::byte*>(w), args.workspace,
                                       reinterpret_cast<const std::byte*>(added)};
        std::byte* const out[] = {reinterpret_cast<std::byte*>(y)};
        ANYNPU_TRY(product->run({in, out, nullptr, rest}));
      }
    }
    return {};
  }

 private:
  int64_t taps() const { return p.window.kernel[0] * p.window.kernel[1]; }
  int64_t pixels() const { return p.window.out[0] * p.window.out[1]; }
  int64_t depth() const { return p.channels / p.group * taps(); }

  // What a moved tap reads: four pixels of a plane with a border of two zeros, from `at` on, and
  // how much of each.
  struct TapSample {
    int64_t at = 0;
    float share[4] = {};
  };
  int64_t line() const { return p.window.in[1] + 4; }  // of a plane with its border

  // The samples of one tap of one offset group for all pixels.
  void find_samples(const RunArgs& args, int64_t n, int64_t task) const {
    const Window& w = p.window;
    const int64_t tap = task % taps(), at = n * p.offset_group * taps() + task;
    const float* down = input_of<float>(args, 2) + 2 * at * pixels();
    const float* across = down + pixels();
    const float* factor = masked ? input_of<float>(args, 4) + at * pixels() : nullptr;
    auto* samples = reinterpret_cast<TapSample*>(args.workspace + columns_bytes) + task * pixels();
    for (int64_t i = 0, pixel = 0; i < w.out[0]; ++i) {
      const auto y =
          static_cast<double>(i * w.stride[0] - w.pad_begin[0] + tap / w.kernel[1] * w.dilation[0]);
      for (int64_t j = 0; j < w.out[1]; ++j, ++pixel) {
        const auto z = static_cast<double>(j * w.stride[1] - w.pad_begin[1] +
                                           tap % w.kernel[1] * w.dilation[1]);
        samples[pixel] =
            sample_of(y + static_cast<double>(down[pixel]), z + static_cast<double>(across[pixel]),
                      factor ? factor[pixel] : 1.0f);
      }
    }
  }

  // Between the four pixels around a point; those outside are 0.
  TapSample sample_of(double y, double z, float factor) const {
    const Window& w = p.window;
    if (!(y > -1 && y < static_cast<double>(w.in[0]) && z > -1 && z < static_cast<double>(w.in[1])))
      return {};
    const double top = std::floor(y), left = std::floor(z);
    const auto v = static_cast<float>(y - top), u = static_cast<float>(z - left);
    return {
        (static_cast<int64_t>(top) + 2) * line() + static_cast<int64_t>(left) + 2,
        {factor * (1 - v) * (1 - u), factor * (1 - v) * u, factor * v * (1 - u), factor * v * u}};
  }

  // The rows of one channel of the matrix: all its taps for all pixels.
  void gather(const RunArgs& args, int64_t n, int64_t channel, int64_t row, float* plane) const {
    const Window& w = p.window;
    const int64_t height = w.in[0], width = w.in[1], step = line();
    const float* x = input_of<float>(args, 0) + (n * p.channels + channel) * height * width;
    std::fill_n(plane, step * (height + 4), 0.0f);
    for (int64_t i = 0; i < height; ++i)
      std::copy_n(x + i * width, width, plane + (i + 2) * step + 2);
    const int64_t part = channel / (p.channels / p.offset_group), count = taps() * pixels();
    const auto* samples =
        reinterpret_cast<const TapSample*>(args.workspace + columns_bytes) + part * count;
    float* column = reinterpret_cast<float*>(args.workspace) + row * count;
    for (int64_t i = 0; i < count; ++i) {
      const float* at = plane + samples[i].at;
      const float* share = samples[i].share;
      column[i] =
          share[0] * at[0] + share[1] * at[1] + share[2] * at[step] + share[3] * at[step + 1];
    }
  }

  Problem p;
  bool bias = false, masked = false;
  std::unique_ptr<KernelPlan> product;
  size_t columns_bytes = 0, samples_bytes = 0, slots = 1;
};

template <Isa isa>
Status can_run_float_deform(const OpContext&) {
  return check_isa(isa);
}

template <Isa isa>
PlanResult plan_float_deform(const OpContext& context) {
  ANYNPU_ASSIGN(Problem p, problem_of(context));
  if (element_count(context.outputs[0].shape) == 0) p.batch = 0;
  return std::unique_ptr<KernelPlan>(std::make_unique<FloatDeformPlan>(
      p, context.has_input(3), context.has_input(4), isa, context.target.threads));
}

}  // namespace

void register_deform_conv(Registry& registry) {
  registry.add(OpSchema{.name = "DeformConv",
                        .since = 19,
                        .inputs = {{"X", "T"},
                                   {"W", "T"},
                                   {"offset", "T"},
                                   {"B", "T", Presence::optional},
                                   {"mask", "T", Presence::optional}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {{"dilations", AttrKind::ints},
                                  {"group", AttrKind::i, int64_t{1}},
                                  {"kernel_shape", AttrKind::ints},
                                  {"offset_group", AttrKind::i, int64_t{1}},
                                  {"pads", AttrKind::ints},
                                  {"strides", AttrKind::ints}},
                        .traits = OpTraits::general().with(CostClass::convolution),
                        .shape = deform_rule});
  registry.add_kernels("DeformConv",
                       {// A matrix of moved taps times the filters, on register tiles.
                        {"moved_taps_avx512",
                         {DType::f32},
                         can_run_float_deform<Isa::avx512>,
                         create_plain<plan_float_deform<Isa::avx512>>},
                        {"moved_taps_avx2",
                         {DType::f32},
                         can_run_float_deform<Isa::avx2>,
                         create_plain<plan_float_deform<Isa::avx2>>},
                        // Everything, in double: the oracle of the tests.
                        {"im2col_taps", kFloats, nullptr, create_plain<plan_deform>}});
}

}  // namespace anynpu::ops::conv
