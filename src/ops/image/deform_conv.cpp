// SPDX-License-Identifier: Apache-2.0
// DeformConv of images: each tap of the kernel is moved by its own offset and read between pixels.
#include <cmath>

#include "ops/block/wide.h"
#include "ops/image/image.h"
#include "ops/late.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/window.h"

namespace anynpu::ops {

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

PlanResult plan_deform(const OpContext& context) {
  ANYNPU_ASSIGN(const Problem p, problem_of(context));
  const DType type = context.inputs[0].dtype;
  const auto store = store_block<double>(type);
  const bool bias = context.has_input(3), masked = context.has_input(4);
  const Window& w = p.window;
  const int64_t taps = w.kernel[0] * w.kernel[1], pixels = w.out[0] * w.out[1];
  const int64_t group_in = p.channels / p.group, group_out = p.outputs / p.group;
  return make_plan([=](const RunArgs& args) {
    const auto read = [&](size_t input, int64_t at) {
      return load_one<double>(type, args.inputs[input], at);
    };
    // Between pixels; those outside are 0.
    const auto sample = [&](int64_t plane, double y, double z) {
      if (!(y > -1 && y < static_cast<double>(w.in[0]) && z > -1 &&
            z < static_cast<double>(w.in[1])))
        return 0.0;
      const double y0 = std::floor(y), z0 = std::floor(z);
      double sum = 0;
      for (int corner = 0; corner < 4; ++corner) {
        const auto i = static_cast<int64_t>(y0) + corner / 2,
                   j = static_cast<int64_t>(z0) + corner % 2;
        if (i < 0 || j < 0 || i >= w.in[0] || j >= w.in[1]) continue;
        const double weight = (1 - std::fabs(y - static_cast<double>(i))) *
                              (1 - std::fabs(z - static_cast<double>(j)));
        sum += weight * read(0, (plane * w.in[0] + i) * w.in[1] + j);
      }
      return sum;
    };
    parallel(static_cast<size_t>(p.batch * p.outputs * pixels), 1, [&](size_t begin, size_t end) {
      for (auto o = static_cast<int64_t>(begin); o < static_cast<int64_t>(end); ++o) {
        const int64_t pixel = o % pixels, m = o / pixels % p.outputs, n = o / pixels / p.outputs;
        double sum = bias ? read(3, m) : 0;
        for (int64_t c = 0; c < group_in; ++c) {
          const int64_t channel = m / group_out * group_in + c;
          const int64_t part = channel / (p.channels / p.offset_group);
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t at = (n * p.offset_group + part) * taps + tap;
            const double y = static_cast<double>(pixel / w.out[1] * w.stride[0] - w.pad_begin[0] +
                                                 tap / w.kernel[1] * w.dilation[0]) +
                             read(2, 2 * at * pixels + pixel);
            const double z = static_cast<double>(pixel % w.out[1] * w.stride[1] - w.pad_begin[1] +
                                                 tap % w.kernel[1] * w.dilation[1]) +
                             read(2, (2 * at + 1) * pixels + pixel);
            const double weight = read(1, (m * group_in + c) * taps + tap) *
                                  (masked ? read(4, at * pixels + pixel) : 1);
            sum += weight * sample(n * p.channels + channel, y, z);
          }
        }
        store(args.outputs[0], o, &sum, 1);
      }
    });
  });
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
                        .shape = deform_rule});
  registry.add(KernelDef{.op = "DeformConv",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_plain<plan_deform>});
}

}  // namespace anynpu::ops
