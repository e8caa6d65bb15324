// SPDX-License-Identifier: Apache-2.0
// ConvInteger and QLinearConv: convolution of quantised tensors, summed in int64.
#include <algorithm>
#include <cmath>

#include "ops/conv/int8.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::conv {

namespace {

constexpr DTypeSet kBytes{DType::u8, DType::i8};

// Positions of the operands; -1 where an operator has none.
struct InputIndices {
  size_t weight = 1;
  int x_zero = 2, w_zero = 3, x_scale = -1, w_scale = -1, y_scale = -1, y_zero = -1, bias = -1;
};
constexpr InputIndices kInteger{};
constexpr InputIndices kLinear{3, 2, 5, 1, 4, 6, 7, 8};

const InputIndices& places_of(const OpContext& context) {
  return context.schema->name == "QLinearConv" ? kLinear : kInteger;
}

Status int8_conv_rule(OpContext& context) {
  const InputIndices& at = places_of(context);
  const Operand &x = context.inputs[0], &w = context.inputs[at.weight];
  const DType type = at.y_zero < 0 ? DType::i32 : context.inputs[7].dtype;
  context.outputs[0].dtype = type;
  if (!x.fully_known() || !w.fully_known()) return {};
  ANYNPU_ASSIGN(const IntegerConv p, integer_conv_of(context));
  Shape shape = {p.batch, p.channels};
  shape.insert(shape.end(), p.window.out.begin(), p.window.out.end());
  return set_output(context, 0, type, std::move(shape));
}

}  // namespace

PlanResult plan_int8_conv(const OpContext& context) {
  ANYNPU_ASSIGN(const IntegerConv p, integer_conv_of(context));
  const auto load_x = load_block<int64_t>(p.x_type), load_w = load_block<int64_t>(p.w_type);
  const auto store = store_block<double>(p.out_type);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(p.batch * p.channels), 1, [&](size_t begin, size_t end) {
      for (auto plane = static_cast<int64_t>(begin); plane < static_cast<int64_t>(end); ++plane) {
        const int64_t n = plane / p.channels, m = plane % p.channels;
        const auto zx = static_cast<int64_t>(p.x_zero.at(args, 0, 0)),
                   zw = static_cast<int64_t>(p.w_zero.at(args, m, 0));
        const double factor = p.factor(args, m), zy = p.y_zero.at(args, 0, 0);
        for (int64_t o = 0; o < p.out_size; ++o) {
          auto sum = static_cast<int64_t>(p.bias.at(args, m, 0));
          for (int64_t tap = 0; tap < p.taps; ++tap) {
            const int64_t at = p.window.tap_offset(o, tap);
            if (at < 0) continue;
            for (int64_t c = 0; c < p.group_in; ++c) {
              int64_t a = 0, b = 0;
              load_x(args.inputs[0],
                     (n * p.in_channels + m / p.group_out * p.group_in + c) * p.in_size + at, 0, &a,
                     1);
              load_w(args.inputs[p.weight], (m * p.group_in + c) * p.taps + tap, 0, &b, 1);
              sum += (a - zx) * (b - zw);
            }
          }
          auto value = static_cast<double>(static_cast<int32_t>(sum));
          if (p.linear) {
            value = std::clamp<double>(std::nearbyint(value * factor) + zy, p.low(), p.high());
          }
          store(args.outputs[0], plane * p.out_size + o, &value, 1);
        }
      }
    });
  });
}

double IntegerConv::factor(const RunArgs& args, int64_t m) const {
  return x_scale.at(args, 0, 1) * w_scale.at(args, m, 1) / y_scale.at(args, 0, 1);
}

Result<IntegerConv> integer_conv_of(const OpContext& context) {
  const InputIndices& at = places_of(context);
  const Operand &x = context.inputs[0], &w = context.inputs[at.weight];
  IntegerConv p;
  p.groups = context.int_attr("group");
  if (x.rank() < 3 || w.rank() != x.rank() || p.groups < 1 ||
      p.groups > std::max<int64_t>(1, x.shape[1]) || w.shape[1] * p.groups != x.shape[1] ||
      w.shape[0] % p.groups != 0) {
    return fail(Code::shape_mismatch,
                "{}: input {} with weight {} and group {}, expected N, C, ... and M, C/group, ...",
                context.label(), to_string(x.shape), to_string(w.shape), p.groups);
  }
  ANYNPU_ASSIGN(p.window, window_of(context, {x.shape.begin() + 2, x.shape.end()},
                                    {w.shape.begin() + 2, w.shape.end()}));
  p.batch = x.shape[0], p.in_channels = x.shape[1], p.channels = w.shape[0];
  p.group_in = w.shape[1], p.group_out = p.channels / p.groups;
  p.in_size = element_count(p.window.in), p.out_size = element_count(p.window.out);
  p.taps = element_count(p.window.kernel);
  p.weight = at.weight;
  p.x_type = x.dtype, p.w_type = w.dtype, p.out_type = context.outputs[0].dtype;
  p.linear = at.y_zero >= 0;
  Status bad;
  const auto parameter = [&](int input, bool one, bool each) {
    QuantParameter found;
    if (input < 0 || !context.has_input(static_cast<size_t>(input))) return found;
    const Operand& operand = context.inputs[static_cast<size_t>(input)];
    found = {input, operand.dtype, each};
    if (!operand.fully_known()) return found;
    const int64_t count = element_count(operand.shape);
    found.each = each && count == p.channels;
    if (!found.each && (!one || count != 1)) {
      bad = fail(Code::shape_mismatch, "{}: input {} is {}, expected {} for {} output channels",
                 context.label(), input, to_string(operand.shape),
                 !each ? "1 value"
                 : one ? "1 value or one for each"
                       : "one for each",
                 p.channels);
    }
    return found;
  };
  p.x_zero = parameter(at.x_zero, true, false), p.w_zero = parameter(at.w_zero, true, true);
  p.x_scale = parameter(at.x_scale, true, false), p.w_scale = parameter(at.w_scale, true, true);
  p.y_scale = parameter(at.y_scale, true, false), p.y_zero = parameter(at.y_zero, true, false);
  p.bias = parameter(at.bias, false, true);
  ANYNPU_TRY(bad);
  return p;
}

void add_int8_conv_schemas(Registry& registry) {
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
                        .traits = OpTraits::general(),
                        .shape = int8_conv_rule});
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
      .traits = OpTraits::general(),
      .shape = int8_conv_rule});
}

}  // namespace anynpu::ops::conv
