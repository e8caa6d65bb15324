// SPDX-License-Identifier: Apache-2.0
// ConvTranspose of any number of spatial dimensions: each output element sums the inputs whose
// kernels reach it, in a fixed order.
#include "ops/conv/conv_transpose.h"

#include "ops/conv/conv.h"
#include "ops/conv/im2col.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/widen.h"

namespace anynpu::ops::conv {

namespace {

std::vector<int64_t> list_or(const OpContext& context, std::string_view key, size_t size,
                             int64_t value) {
  return context.has_attr(key) ? context.ints_attr(key) : std::vector<int64_t>(size, value);
}

}  // namespace

Result<TransposeShape> transpose_shape_of(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &w = context.inputs[1].shape;
  TransposeShape g;
  const size_t dims = x.size() >= 3 ? x.size() - 2 : 0;
  g.group = context.int_attr("group");
  if (dims == 0 || w.size() != x.size() || g.group < 1 || x[1] != w[0] || x[1] % g.group != 0) {
    return fail(Code::shape_mismatch,
                "{}: input {} with weight {} and group {}, expected N, C, ... and C, M/group, ...",
                context.label(), to_string(x), to_string(w), g.group);
  }
  g.batch = x[0], g.in_channels = x[1], g.out_channels = w[1] * g.group;
  g.in.assign(x.begin() + 2, x.end());
  g.kernel.assign(w.begin() + 2, w.end());
  g.stride = list_or(context, "strides", dims, 1);
  g.dilation = list_or(context, "dilations", dims, 1);
  const auto extra = list_or(context, "output_padding", dims, 0);
  auto pads = list_or(context, "pads", 2 * dims, 0);
  const auto wanted = context.ints_attr("output_shape");
  bool fits = g.stride.size() == dims && g.dilation.size() == dims && extra.size() == dims &&
              pads.size() == 2 * dims && (wanted.empty() || wanted.size() == dims);
  const std::string mode = context.string_attr("auto_pad");
  for (size_t i = 0; fits && i < dims; ++i) {
    constexpr int64_t kMost = int64_t{1} << 31;
    for (int64_t v : {g.in[i], g.kernel[i], g.stride[i], g.dilation[i]})
      fits = fits && v >= 1 && v < kMost;
    for (int64_t v : {extra[i], pads[i], pads[i + dims], wanted.empty() ? 0 : wanted[i]})
      fits = fits && v > -kMost && v < kMost;
    if (!fits) break;
    const int64_t full =
        g.stride[i] * (g.in[i] - 1) + extra[i] + (g.kernel[i] - 1) * g.dilation[i] + 1;
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (!wanted.empty() || same) {
      const int64_t out = wanted.empty() ? g.in[i] * g.stride[i] : wanted[i];
      const int64_t total = std::max<int64_t>(0, full - out);
      pads[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      pads[i + dims] = total - pads[i];
      g.out.push_back(out);
    } else {
      if (mode == "VALID") pads[i] = pads[i + dims] = 0;
      g.out.push_back(full - pads[i] - pads[i + dims]);
    }
    g.pad.push_back(pads[i]);
    fits = fits && g.out.back() >= 1 && g.out.back() < kMost;
  }
  if (!fits) {
    return fail(Code::invalid_argument,
                "{}: strides, dilations, pads or output_shape do not fit input {} and weight {}",
                context.label(), to_string(x), to_string(w));
  }
  return g;
}

namespace {

Status transpose_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known() || !context.inputs[1].fully_known()) return {};
  ANYNPU_ASSIGN(const TransposeShape g, transpose_shape_of(context));
  if (context.has_input(2) && context.inputs[2].fully_known() &&
      element_count(context.inputs[2].shape) != g.out_channels) {
    return fail(Code::shape_mismatch, "{}: bias {} for {} channels", context.label(),
                to_string(context.inputs[2].shape), g.out_channels);
  }
  Shape shape = {g.batch, g.out_channels};
  shape.insert(shape.end(), g.out.begin(), g.out.end());
  return set_output(context, 0, x.dtype, std::move(shape));
}

}  // namespace

PlanResult plan_conv_transpose(const OpContext& context) {
  ANYNPU_ASSIGN(const TransposeShape g, transpose_shape_of(context));
  const DType type = context.inputs[0].dtype;
  const auto load = load_block<double>(type);
  const auto store = store_block<double>(type);
  const int64_t in_size = element_count(g.in), out_size = element_count(g.out),
                taps = element_count(g.kernel);
  const int64_t in_group = g.in_channels / g.group, out_group = g.out_channels / g.group;
  const bool bias = context.has_input(2);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(g.batch * g.out_channels), 1, [&](size_t begin, size_t end) {
      for (auto plane = static_cast<int64_t>(begin); plane < static_cast<int64_t>(end); ++plane) {
        const int64_t n = plane / g.out_channels, m = plane % g.out_channels, group = m / out_group;
        for (int64_t o = 0; o < out_size; ++o) {
          double sum = 0;
          if (bias) load(args.inputs[2], m, 0, &sum, 1);
          for (int64_t tap = 0; tap < taps; ++tap) {
            int64_t at = 0, place = 1, rest = o, k = tap;
            bool reached = true;
            for (size_t d = g.in.size(); d-- > 0 && reached;) {
              const int64_t y = rest % g.out[d] + g.pad[d] - k % g.kernel[d] * g.dilation[d];
              rest /= g.out[d], k /= g.kernel[d];
              reached = y >= 0 && y % g.stride[d] == 0 && y / g.stride[d] < g.in[d];
              at += reached ? y / g.stride[d] * place : 0;
              place *= g.in[d];
            }
            if (!reached) continue;
            for (int64_t c = 0; c < in_group; ++c) {
              const int64_t channel = group * in_group + c;
              double x = 0, w = 0;
              load(args.inputs[0], (n * g.in_channels + channel) * in_size + at, 0, &x, 1);
              load(args.inputs[1], (channel * out_group + m % out_group) * taps + tap, 0, &w, 1);
              sum += x * w;
            }
          }
          store(args.outputs[0], plane * out_size + o, &sum, 1);
        }
      }
    });
  });
}

namespace {

// Extents that only matter for where outputs lie are unknown until a plan is made.
OpContext with_some_extents(OpContext context) {
  constexpr int64_t kSome = int64_t{1} << 16;
  for (int64_t& extent : context.inputs[0].shape) {
    if (extent < 0) extent = kSome;
  }
  return context;
}

}  // namespace

// Output o sees tap k where o + pad - k * dilation is a multiple of the stride. A phase is a
// remainder of o + pad along each axis: which taps it sees depends on no extent.
Result<Im2colConv> im2col_conv_transpose_of(const OpContext& context) {
  if (!context.inputs[0].has_shape || !context.inputs[1].fully_known()) {
    return fail(Code::unsupported_shape, "the rank of the input or the weights are not known");
  }
  ANYNPU_ASSIGN(const TransposeShape g, transpose_shape_of(with_some_extents(context)));
  const size_t dims = g.in.size();
  Im2colConv conv{.batch = g.batch,
                  .in_channels = g.in_channels,
                  .out_channels = g.out_channels,
                  .group = g.group,
                  .in = g.in,
                  .out = g.out,
                  .in_step = std::vector<int64_t>(dims, 1),
                  .out_step = g.stride,
                  .kernel_taps = element_count(g.kernel),
                  .transposed = true,
                  .has_bias = context.has_input(2)};
  int64_t count = 1;
  for (int64_t stride : g.stride) {
    if (stride > static_cast<int64_t>(kMostPhases) / count) {
      return fail(Code::unsupported_shape, "strides of {} phases and more, takes up to {}",
                  count * stride, kMostPhases);
    }
    count *= stride;
  }
  for (int64_t number = 0; number < count; ++number) {
    ConvPhase phase{.grid = std::vector<int64_t>(dims), .first = std::vector<int64_t>(dims)};
    std::vector<int64_t> remainder(dims);
    int64_t rest = number;
    for (size_t d = dims; d-- > 0; rest /= g.stride[d]) {
      const int64_t stride = g.stride[d];
      remainder[d] = rest % stride;
      phase.first[d] = ((remainder[d] - g.pad[d]) % stride + stride) % stride;
      phase.grid[d] = std::max<int64_t>(0, (g.out[d] - 1 - phase.first[d] + stride) / stride);
    }
    for (int64_t tap = 0; tap < conv.kernel_taps; ++tap) {
      std::vector<int64_t> offsets = tap_place(g.kernel, g.dilation, tap);
      bool seen = true;
      for (size_t d = 0; d < dims; ++d) {
        seen = seen && offsets[d] % g.stride[d] == remainder[d];
        offsets[d] = (phase.first[d] + g.pad[d] - offsets[d]) / g.stride[d];
      }
      if (seen) phase.add(tap, offsets);
    }
    conv.phases.push_back(std::move(phase));
  }
  return conv;
}

void add_conv_transpose_schema(Registry& registry) {
  registry.add(OpSchema{.name = "ConvTranspose",
                        .since = 1,
                        .inputs = {{"X", "T"}, {"W", "T"}, {"B", "T", Presence::optional}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {{"auto_pad", AttrKind::s, std::string_view("NOTSET")},
                                  {"dilations", AttrKind::ints},
                                  {"group", AttrKind::i, int64_t{1}},
                                  {"kernel_shape", AttrKind::ints},
                                  {"output_padding", AttrKind::ints},
                                  {"output_shape", AttrKind::ints},
                                  {"pads", AttrKind::ints},
                                  {"strides", AttrKind::ints}},
                        .traits = OpTraits::matrix(),
                        .shape = transpose_rule});
}

}  // namespace anynpu::ops::conv
