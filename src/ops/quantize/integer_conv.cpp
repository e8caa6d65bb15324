// SPDX-License-Identifier: Apache-2.0
// ConvInteger and QLinearConv: convolution of quantised tensors, summed in int64.
#include <algorithm>
#include <cmath>

#include "ops/block/wide.h"
#include "ops/late.h"
#include "ops/parallel.h"
#include "ops/quantize/quantize.h"
#include "ops/registry.h"
#include "ops/window.h"

namespace anynpu::ops {

namespace {

constexpr DTypeSet kBytes{DType::u8, DType::i8};

size_t weight_place(const OpContext& context) {
  return context.schema->name == "QLinearConv" ? 3 : 1;
}

Result<Window> checked_window(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &w = context.inputs[weight_place(context)].shape;
  const int64_t group = context.int_attr("group");
  if (x.size() < 3 || w.size() != x.size() || group < 1 || w[1] * group != x[1] ||
      w[0] % group != 0) {
    return fail(Code::shape_mismatch,
                "{}: input {} with weight {} and group {}, expected N, C, ... and M, C/group, ...",
                context.label(), to_string(x), to_string(w), group);
  }
  return window_of(context, {x.begin() + 2, x.end()}, {w.begin() + 2, w.end()});
}

Status conv_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &w = context.inputs[weight_place(context)];
  const bool linear = context.schema->name == "QLinearConv";
  const DType type = linear ? context.inputs[7].dtype : DType::i32;
  context.outputs[0].dtype = type;
  if (!x.fully_known() || !w.fully_known()) return {};
  ANYNPU_ASSIGN(const Window window, checked_window(context));
  if (context.has_input(8) && element_count(context.inputs[8].shape) != w.shape[0]) {
    return fail(Code::shape_mismatch, "{}: bias {} for {} channels", context.label(),
                to_string(context.inputs[8].shape), w.shape[0]);
  }
  Shape shape = {x.shape[0], w.shape[0]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  return set_output(context, 0, type, std::move(shape));
}

PlanResult plan_conv(const OpContext& context) {
  const bool linear = context.schema->name == "QLinearConv";
  const size_t weight = weight_place(context);
  ANYNPU_ASSIGN(const Window window, checked_window(context));
  const Shape x = context.inputs[0].shape, w = context.inputs[weight].shape;
  const int64_t channels = w[0], group_in = w[1], group_out = channels / context.int_attr("group");
  const int64_t in_size = element_count(window.in), out_size = element_count(window.out),
                taps = element_count(window.kernel);
  const auto load_x = load_block<int64_t>(context.inputs[0].dtype),
             load_w = load_block<int64_t>(context.inputs[weight].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  const bool is_signed = context.outputs[0].dtype == DType::i8, bias = context.has_input(8);
  // One value, or one per output channel.
  const auto reader = [&](size_t input) {
    const bool there = context.has_input(input);
    const DType type = there ? context.inputs[input].dtype : DType::u8;
    const bool each = there && element_count(context.inputs[input].shape) == channels;
    return [=](const RunArgs& args, int64_t m, double otherwise) {
      return there ? load_one<double>(type, args.inputs[input], each ? m : 0) : otherwise;
    };
  };
  const auto x_zero = reader(2), w_zero = reader(linear ? 5 : 3), x_scale = reader(linear ? 1 : 9),
             w_scale = reader(linear ? 4 : 9), y_scale = reader(linear ? 6 : 9),
             y_zero = reader(linear ? 7 : 9);
  return make_plan([=, in_channels = x[1], batch = x[0]](const RunArgs& args) {
    parallel(static_cast<size_t>(batch * channels), 1, [&](size_t begin, size_t end) {
      for (auto plane = static_cast<int64_t>(begin); plane < static_cast<int64_t>(end); ++plane) {
        const int64_t n = plane / channels, m = plane % channels;
        const auto zx = static_cast<int64_t>(x_zero(args, 0, 0)),
                   zw = static_cast<int64_t>(w_zero(args, m, 0));
        for (int64_t o = 0; o < out_size; ++o) {
          int64_t sum = bias ? load_one<int64_t>(DType::i32, args.inputs[8], m) : 0;
          for (int64_t tap = 0; tap < taps; ++tap) {
            int64_t at = 0, place = 1, rest = o, k = tap;
            bool inside = true;
            for (size_t d = window.dims(); d-- > 0;) {
              const int64_t i = rest % window.out[d] * window.stride[d] - window.pad_begin[d] +
                                k % window.kernel[d] * window.dilation[d];
              rest /= window.out[d], k /= window.kernel[d];
              inside = inside && i >= 0 && i < window.in[d];
              at += i * place;
              place *= window.in[d];
            }
            if (!inside) continue;
            for (int64_t c = 0; c < group_in; ++c) {
              int64_t a = 0, b = 0;
              load_x(args.inputs[0],
                     (n * in_channels + m / group_out * group_in + c) * in_size + at, 0, &a, 1);
              load_w(args.inputs[weight], (m * group_in + c) * taps + tap, 0, &b, 1);
              sum += (a - zx) * (b - zw);
            }
          }
          auto value = static_cast<double>(static_cast<int32_t>(sum));
          if (linear) {
            value = std::nearbyint(value * x_scale(args, 0, 1) * w_scale(args, m, 1) /
                                   y_scale(args, 0, 1)) +
                    y_zero(args, 0, 0);
            value = std::clamp(value, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
          }
          store(args.outputs[0], plane * out_size + o, &value, 1);
        }
      }
    });
  });
}

}  // namespace

void register_integer_conv(Registry& registry) {
  const std::vector<AttrSchema> attrs = {{"auto_pad", AttrKind::s, std::string_view("NOTSET")},
                                         {"dilations", AttrKind::ints},
                                         {"group", AttrKind::i, int64_t{1}},
                                         {"kernel_shape", AttrKind::ints},
                                         {"pads", AttrKind::ints},
                                         {"strides", AttrKind::ints}};
  registry.add(OpSchema{.name = "ConvInteger",
                        .since = 10,
                        .inputs = {{"x", "X"},
                                   {"w", "W"},
                                   {"x_zero_point", "X", Presence::optional},
                                   {"w_zero_point", "W", Presence::optional}},
                        .outputs = {{"y", "I"}},
                        .types = {{"X", kBytes}, {"W", kBytes}},
                        .attrs = attrs,
                        .shape = conv_rule});
  registry.add(OpSchema{
      .name = "QLinearConv",
      .since = 10,
      .inputs = {{"x", "X"},
                 {"x_scale", "S"},
                 {"x_zero_point", "X"},
                 {"w", "W"},
                 {"w_scale", "S"},
                 {"w_zero_point", "W"},
                 {"y_scale", "S"},
                 {"y_zero_point", "Y"},
                 {"B", "I", Presence::optional}},
      .outputs = {{"y", "Y"}},
      .types =
          {{"X", kBytes}, {"W", kBytes}, {"Y", kBytes}, {"S", {DType::f32}}, {"I", {DType::i32}}},
      .attrs = attrs,
      .shape = conv_rule});
  for (std::string_view op : {"ConvInteger", "QLinearConv"}) {
    registry.add(KernelDef{
        .op = op, .name = "reference", .types = kBytes, .create = create_plain<plan_conv>});
  }
}

}  // namespace anynpu::ops
