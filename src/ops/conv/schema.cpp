// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/blocked.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_amx.h"
#include "ops/conv/im2col.h"
#include "ops/conv/winograd.h"
#include "ops/elements/program.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/widen.h"

namespace anynpu::ops::conv {

Result<ConvShape> conv_shape_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const Operand& w = context.inputs[1];
  if (x.rank() < 3 || w.rank() != x.rank()) {
    return fail(Code::unsupported_shape,
                "{}: input is {}, weight is {}, expected the same rank of at least 3",
                context.label(), to_string(x.shape), to_string(w.shape));
  }
  if (!is_static(w.shape)) {
    return fail(Code::unsupported_shape,
                "{}: weight is {}, expected known extents; freeze the weights", context.label(),
                to_string(w.shape));
  }
  ConvShape c;
  c.batch = x.shape[0];
  c.group = context.int_attr("group");
  c.in_channels = x.shape[1] == kDynamicDim ? w.shape[1] * c.group : x.shape[1];
  c.out_channels = w.shape[0];
  if (c.group < 1 || c.group > c.out_channels || c.out_channels % c.group != 0 || w.shape[1] < 1 ||
      c.in_channels % c.group != 0 || c.in_channels / c.group != w.shape[1]) {
    return fail(
        Code::shape_mismatch,
        "{}: input has {} channels, weight is {} with group {}; expected the input channels "
        "to be the weight's second extent times group, and its first a multiple of group",
        context.label(), x.shape[1], to_string(w.shape), c.group);
  }
  const std::vector<int64_t> kernel(w.shape.begin() + 2, w.shape.end());
  const auto declared = context.ints_attr("kernel_shape");
  if (!declared.empty() && declared != kernel) {
    return fail(Code::shape_mismatch, "{}: kernel_shape is {}, the weight is {}; expected the same",
                context.label(), declared, to_string(w.shape));
  }
  ANYNPU_ASSIGN(c.window, window_of(context, {x.shape.begin() + 2, x.shape.end()}, kernel));
  if (context.has_input(2)) {
    const Operand& b = context.inputs[2];
    if (b.has_shape && (b.rank() != 1 || (is_static(b.shape) && b.shape[0] != c.out_channels))) {
      return fail(Code::shape_mismatch, "{}: bias is {}, expected {}; check the exported model",
                  context.label(), to_string(b.shape), c.out_channels);
    }
  }
  return c;
}

namespace {

Status conv_rule(OpContext& context) {
  Operand& y = context.outputs[0];
  y.dtype = context.inputs[0].dtype;
  if (!context.inputs[0].has_shape || !context.inputs[1].has_shape) return {};
  ANYNPU_ASSIGN(const ConvShape c, conv_shape_of(context));
  y.shape = {c.batch, c.out_channels};
  y.shape.insert(y.shape.end(), c.window.out.begin(), c.window.out.end());
  y.has_shape = true;
  if (context.has_input(3) && context.inputs[3].has_shape && context.inputs[3].shape != y.shape) {
    return fail(Code::shape_mismatch,
                "{}: the tensor to add is {}, the output is {}; expected the same", context.label(),
                to_string(context.inputs[3].shape), to_string(y.shape));
  }
  return {};
}

}  // namespace

void add_conv_schemas(Registry& registry) {
  const std::vector<AttrSchema> attrs = {{"auto_pad", AttrKind::s, "NOTSET"},
                                         {"dilations", AttrKind::ints},
                                         {"group", AttrKind::i, int64_t{1}},
                                         {"kernel_shape", AttrKind::ints},
                                         {"pads", AttrKind::ints},
                                         {"strides", AttrKind::ints}};
  registry.add(
      OpSchema{.name = "Conv",
               .since = 1,
               .inputs = {{"X", "T"}, {"W", "T"}, {"B", "T", Presence::optional}},
               .outputs = {{"Y", "T"}},
               .types = {{"T", kFloats}},
               .attrs = attrs,
               .traits = OpTraits::matrix().with(CostClass::convolution).with(BlockedInput::yes),
               .shape = conv_rule});
  std::vector<AttrSchema> fused = attrs;
  fused.push_back({"activation", AttrKind::s, ""});
  fused.push_back({"activation_min", AttrKind::f, std::numeric_limits<float>::lowest()});
  fused.push_back({"activation_max", AttrKind::f, std::numeric_limits<float>::max()});
  for (const AttrSchema& attr : program_attributes()) fused.push_back(attr);
  registry.add(OpSchema{.name = "FusedConv",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"},
                                   {"W", "T"},
                                   {"B", "T", Presence::optional},
                                   {"Z", "T", Presence::optional}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = fused,
                        .traits = OpTraits::matrix().with(BlockedInput::yes),
                        .shape = conv_rule});
}

}  // namespace anynpu::ops::conv
