// SPDX-License-Identifier: Apache-2.0
// Operators whose output has the bytes of their input: Reshape, Flatten, Squeeze, Unsqueeze,
// Identity, BitCast, Dropout at inference. A plan lets both share memory; otherwise it is one copy.
#include <algorithm>
#include <cstring>

#include "ops/blocked_layout.h"
#include "ops/data_movement/axes.h"
#include "ops/elements/cast_attributes.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/random/random.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"

namespace anynpu::ops::shape {

namespace {

Status set_output(OpContext& context, Shape shape) {
  context.outputs[0].shape = std::move(shape);
  context.outputs[0].has_shape = true;
  return {};
}

Status reshape_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  std::vector<int64_t> wanted;
  if (context.schema->since < 5) {
    wanted = context.ints_attr("shape");
  } else {
    const IntegerList list = integers_of(context.inputs[1]);
    if (!list.known) return {};
    wanted = list.values;
  }
  const bool zero_is_zero = context.int_attr("allowzero") != 0;
  if (!x.has_shape) {  // the rank is known all the same
    for (int64_t& extent : wanted) {
      if (extent < 0 || (extent == 0 && !zero_is_zero)) extent = kDynamicDim;
    }
    return set_output(context, std::move(wanted));
  }
  int64_t known = 1, hole = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0 && !zero_is_zero) {
      if (i >= x.shape.size()) {
        return fail(Code::shape_mismatch,
                    "{}: shape {} copies extent {}, the input is {}; expected that extent to exist",
                    context.label(), wanted, i, to_string(x.shape));
      }
      wanted[i] = x.shape[i];
      if (wanted[i] == kDynamicDim) return set_output(context, Shape(wanted.size(), kDynamicDim));
    } else if (wanted[i] == -1) {
      if (hole >= 0) {
        return fail(Code::invalid_argument, "{}: shape {} has -1 more than once", context.label(),
                    wanted);
      }
      hole = static_cast<int64_t>(i);
      continue;
    } else if (wanted[i] < 0) {
      return fail(Code::invalid_argument, "{}: shape {} has an extent below -1", context.label(),
                  wanted);
    }
    if (__builtin_mul_overflow(known, wanted[i], &known)) {
      return fail(Code::unsupported_shape, "{}: shape {} is too large", context.label(), wanted);
    }
  }
  const int64_t count = element_count(x.shape);
  if (count == kDynamicDim) return set_output(context, wanted);  // the hole, if any, stays -1
  if (hole >= 0) {
    if (known == 0 ? count != 0 : count % known != 0) {
      return fail(Code::shape_mismatch, "{}: {} elements of input {} do not fill shape {}",
                  context.label(), count, to_string(x.shape), wanted);
    }
    wanted[static_cast<size_t>(hole)] = known == 0 ? 0 : count / known;
    known = known == 0 ? 0 : count;
  }
  if (known != count) {
    return fail(Code::shape_mismatch,
                "{}: input {} has {} elements, shape {} has {}; expected the same", context.label(),
                to_string(x.shape), count, wanted, known);
  }
  return set_output(context, wanted);
}

int64_t extent_product(const Shape& shape, size_t from, size_t to) {
  return element_count(Shape(shape.begin() + static_cast<ptrdiff_t>(from),
                             shape.begin() + static_cast<ptrdiff_t>(to)));
}

Status flatten_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  const int64_t rank = x.rank();
  int64_t axis = context.int_attr("axis");
  if (axis < -rank || axis > rank) {
    return fail(Code::invalid_argument, "{}: axis {} of input {}, expected -{} to {}",
                context.label(), axis, to_string(x.shape), rank, rank);
  }
  const auto cut = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return set_output(
      context, {extent_product(x.shape, 0, cut), extent_product(x.shape, cut, x.shape.size())});
}

// Attribute up to opset 12, input from 13. `known` false: an input that is no constant.
IntegerList axes_of(const OpContext& context) {
  if (context.schema->since >= 13) return integers_of(context.inputs[1]);
  IntegerList list;
  list.values = context.ints_attr("axes");
  list.present = list.known = context.has_attr("axes");
  return list;
}

Status squeeze_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  const IntegerList axes = axes_of(context);
  if (!x.has_shape || (axes.present && !axes.known)) return {};
  std::vector<bool> drop(x.shape.size(), false);
  if (!axes.present) {
    for (size_t i = 0; i < x.shape.size(); ++i) drop[i] = x.shape[i] == 1;
  }
  for (int64_t raw : axes.values) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, raw, x.rank()));
    const auto at = static_cast<size_t>(axis);
    if (x.shape[at] != 1 && x.shape[at] != kDynamicDim) {
      return fail(Code::shape_mismatch,
                  "{}: extent {} of input {} is not 1, so it cannot be squeezed", context.label(),
                  axis, to_string(x.shape));
    }
    drop[at] = true;
  }
  Shape shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (!drop[i]) shape.push_back(x.shape[i]);
  }
  return set_output(context, shape);
}

Status unsqueeze_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  const IntegerList axes = axes_of(context);
  if (!x.has_shape || !axes.known) return {};
  const auto rank = static_cast<int64_t>(x.shape.size() + axes.values.size());
  std::vector<bool> added(static_cast<size_t>(rank), false);
  for (int64_t raw : axes.values) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, raw, rank));
    if (added[static_cast<size_t>(axis)]) {
      return fail(Code::invalid_argument, "{}: axes {} name {} twice", context.label(), axes.values,
                  axis);
    }
    added[static_cast<size_t>(axis)] = true;
  }
  Shape shape;
  size_t next = 0;
  for (bool one : added) shape.push_back(one ? 1 : x.shape[next++]);
  return set_output(context, shape);
}

Status identity_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  context.outputs[0].shape = x.shape;
  context.outputs[0].has_shape = x.has_shape;
  return {};
}

Status bit_cast_rule(OpContext& context) {
  ANYNPU_TRY(identity_rule(context));
  const DType from = context.inputs[0].dtype;
  ANYNPU_ASSIGN(const DType to, dtype_of_onnx(context, context.int_attr("to")));
  if (!kAnyPacked.has(to) || bytes_of(from, 2) != bytes_of(to, 2)) {
    return fail(Code::unsupported_dtype,
                "{}: the bits of {} are read as {}, expected a type of as many bits",
                context.label(), name_of(from), name_of(to));
  }
  context.outputs[0].dtype = to;
  return {};
}

// BitCast of domain anynpu, for types of different sizes (as tf.bitcast): a wide element becomes a
// new last axis of narrow ones, and the reverse. Reinterpret (view.cpp) keeps the rank.
Status read_bits_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  const DType from = x.dtype;
  ANYNPU_ASSIGN(const DType to, dtype_of_onnx(context, context.int_attr("to")));
  const auto wide = static_cast<int64_t>(std::max(size_of(from), size_of(to)));
  const auto narrow = static_cast<int64_t>(std::min(size_of(from), size_of(to)));
  context.outputs[0].dtype = to;
  if (!kAnyFixed.has(to) || narrow == 0 || wide % narrow != 0) {
    return fail(Code::unsupported_dtype,
                "{}: the bits of {} are read as {}, expected types of which one fills the other",
                context.label(), name_of(from), name_of(to));
  }
  if (!x.has_shape) return {};
  Shape shape = x.shape;
  const int64_t ratio = wide / narrow;
  if (size_of(from) > size_of(to)) shape.push_back(ratio);
  if (size_of(from) < size_of(to)) {
    if (shape.empty() || (shape.back() != ratio && shape.back() != kDynamicDim)) {
      return fail(Code::shape_mismatch,
                  "{}: the input is {}, expected a last axis of {} for a {} each", context.label(),
                  to_string(x.shape), ratio, name_of(to));
    }
    shape.pop_back();
  }
  return set_output(context, std::move(shape));
}

// Whether a Dropout may drop elements: its input says so, or says it in the run.
bool may_train(const OpContext& context) {
  if (context.schema->name != "Dropout" || !context.has_input(2)) return false;
  const Operand& training = context.inputs[2];
  return !training.is_constant || training.constant.empty() || training.constant[0] != std::byte{0};
}

Status can_view(const OpContext& context) {
  if (!may_train(context)) return {};
  return fail(Code::unsupported_feature, "it may be in training mode");
}

Status dropout_rule(OpContext& context) {
  ANYNPU_TRY(identity_rule(context));
  if (context.outputs.size() > 1) {
    context.outputs[1] = context.outputs[0];
    context.outputs[1].dtype =
        context.schema->since < 10 ? context.inputs[0].dtype : DType::boolean;
  }
  return {};
}

// The bits of 1 in the types that a mask can have; 0: it cannot.
uint64_t bits_of_one(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return 1;
    case DType::f16:
      return 0x3c00;
    case DType::bf16:
      return 0x3f80;
    case DType::f32:
      return 0x3f800000;
    case DType::f64:
      return 0x3ff0000000000000;
    default:
      return 0;
  }
}

PlanResult plan_view(const OpContext& context) {
  // The shape of the output may be the one that the model states.
  const auto size = [](const Operand& operand) {
    return bytes_of(operand.dtype, static_cast<size_t>(element_count(operand.shape)));
  };
  const size_t bytes = size(context.inputs[0]);
  if (size(context.outputs[0]) != bytes) {
    return fail(Code::shape_mismatch,
                "{}: the input has the shape {}, and the output is stated as {}, which has another "
                "number of elements; check the model",
                context.label(), to_string(context.inputs[0].shape),
                to_string(context.outputs[0].shape));
  }
  const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
  // Dropout's mask keeps everything; before opset 10 it has the type of the data.
  const bool mask = context.outputs.size() > 1 && context.outputs[1].present;
  const uint64_t one = mask ? bits_of_one(context.outputs[1].dtype) : 0;
  if (mask && one == 0) {
    return fail(Code::unsupported_dtype, "{}: its mask would be {}; expected a float type",
                context.label(), name_of(context.outputs[1].dtype));
  }
  const size_t width = mask ? size_of(context.outputs[1].dtype) : 0;
  // Axes behind the channels are joined or divided in any layout.
  const Operand &x = context.inputs[0], &y = context.outputs[0];
  const bool blocked = !mask && x.layout == Layout::blocked16 && can_block(x) && can_block(y) &&
                       x.dtype == y.dtype && x.shape[0] == y.shape[0] && x.shape[1] == y.shape[1];
  const size_t moved = blocked ? stored_bytes(x.dtype, x.shape, Layout::blocked16) : bytes;
  auto plan = make_plan([=](const RunArgs& args) {
    if (args.outputs[0] != args.inputs[0] && moved > 0) {
      parallel(moved, size_t{64} << 10, [&](size_t begin, size_t end) {
        std::memcpy(args.outputs[0] + begin, args.inputs[0] + begin, end - begin);
      });
    }
    for (size_t i = 0; mask && i < count; ++i)
      std::memcpy(args.outputs[1] + i * width, &one, width);
  });
  plan->in_place_input = 0;
  plan->view = !mask;
  if (blocked) {
    plan->input_layouts.assign(context.inputs.size(), Layout::plain);
    plan->input_layouts[0] = Layout::blocked16;
    plan->output_layouts = {Layout::blocked16};
  }
  return plan;
}

void add_view(Registry& registry, OpSchema schema) {
  schema.outputs.insert(schema.outputs.begin(), {"output", "T"});
  schema.types.push_back({"T", kAnyPacked});
  registry.add(std::move(schema));
}

}  // namespace

void register_reshape(Registry& registry) {
  // What is stored in blocks of channels may stay so.
  constexpr OpTraits kSameOrder = OpTraits::data_movement().with(BlockedInput::if_output);
  const FormalOperand data{"data", "T"};
  const std::vector<AttrSchema> axes = {{"axes", AttrKind::ints}};
  const FormalOperand axes_input{"axes", "I", Presence::optional};
  const TypeVar index{"I", {DType::i64}};
  add_view(registry, {.name = "Reshape",
                      .since = 1,
                      .inputs = {data},
                      .attrs = {{"shape", AttrKind::ints}},
                      .traits = kSameOrder.with(SizedBy::parameters),
                      .shape = reshape_rule});
  add_view(registry, {.name = "Reshape",
                      .since = 5,
                      .inputs = {data, {"shape", "I"}},
                      .types = {index},
                      .traits = kSameOrder.with(SizedBy::parameters),
                      .shape = reshape_rule});
  add_view(registry, {.name = "Reshape",
                      .since = 14,
                      .inputs = {data, {"shape", "I"}},
                      .types = {index},
                      .attrs = {{"allowzero", AttrKind::i, int64_t{0}}},
                      .traits = kSameOrder.with(SizedBy::parameters),
                      .shape = reshape_rule});
  add_view(registry, {.name = "Flatten",
                      .since = 1,
                      .inputs = {data},
                      .attrs = {{"axis", AttrKind::i, int64_t{1}}},
                      .traits = OpTraits::data_movement(),
                      .shape = flatten_rule});
  add_view(registry, {.name = "Squeeze",
                      .since = 1,
                      .inputs = {data},
                      .attrs = axes,
                      .traits = kSameOrder.with(SizedBy::parameters),
                      .shape = squeeze_rule});
  add_view(registry, {.name = "Squeeze",
                      .since = 13,
                      .inputs = {data, axes_input},
                      .types = {index},
                      .traits = kSameOrder.with(SizedBy::parameters),
                      .shape = squeeze_rule});
  add_view(registry, {.name = "Unsqueeze",
                      .since = 1,
                      .inputs = {data},
                      .attrs = axes,
                      .traits = kSameOrder.with(SizedBy::parameters),
                      .shape = unsqueeze_rule});
  add_view(registry, {.name = "Unsqueeze",
                      .since = 13,
                      .inputs = {data, {"axes", "I"}},
                      .types = {index},
                      .traits = kSameOrder.with(SizedBy::parameters),
                      .shape = unsqueeze_rule});
  add_view(registry, {.name = "Identity",
                      .since = 1,
                      .inputs = {data},
                      .traits = kSameOrder.with(StatedShape::of_first),
                      .shape = identity_rule});
  registry.add(OpSchema{.name = "BitCast",
                        .since = 26,
                        .inputs = {{"input", "T1"}},
                        .outputs = {{"output", "T2"}},
                        .types = {{"T1", kAnyPacked}, {"T2", kAnyPacked}},
                        .attrs = {{"to", AttrKind::i, {}, true}},
                        .traits = OpTraits::general(),
                        .shape = bit_cast_rule});
  registry.add(OpSchema{.name = "BitCast",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"input", "T1"}},
                        .outputs = {{"output", "T2"}},
                        .types = {{"T1", kAnyFixed}, {"T2", kAnyFixed}},
                        .attrs = {{"to", AttrKind::i, {}, true}},
                        .traits = OpTraits::general(),
                        .shape = read_bits_rule});
  registry.add(KernelDef{.op = "BitCast",
                         .name = "view",
                         .domain = "anynpu",
                         .types = kAnyFixed,
                         .create = create_plain<plan_view>});
  const FormalOperand mask{"mask", "M", Presence::optional};
  const AttrSchema ratio{"ratio", AttrKind::f, 0.5f};
  add_view(registry, {.name = "Dropout",
                      .since = 1,
                      .inputs = {data},
                      .outputs = {mask},
                      .attrs = {ratio, {"is_test", AttrKind::i, int64_t{0}}},
                      .traits = OpTraits::linear().with(PrecisionClass::gray),
                      .shape = dropout_rule});
  add_view(registry, {.name = "Dropout",
                      .since = 10,
                      .inputs = {data},
                      .outputs = {mask},
                      .attrs = {ratio},
                      .traits = OpTraits::linear().with(PrecisionClass::gray),
                      .shape = dropout_rule});
  add_view(registry, {.name = "Dropout",
                      .since = 12,
                      .inputs = {data,
                                 {"ratio", "R", Presence::optional},
                                 {"training_mode", "B", Presence::optional}},
                      .outputs = {mask},
                      .attrs = {{"seed", AttrKind::i}},
                      .traits = OpTraits::linear().with(PrecisionClass::gray),
                      .shape = dropout_rule});
  for (std::string_view op :
       {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "BitCast"}) {
    registry.add(KernelDef{
        .op = op, .name = "view", .types = kAnyPacked, .create = create_plain<plan_view>});
  }
  // Nothing is dropped at inference: the output is the input. In training mode it is drawn.
  registry.add_kernels(
      "Dropout", {{"view", kAnyPacked, can_view, create_plain<plan_view>},
                  {"reference", kFloats | kFloat8, nullptr, create_plain<random::plan_dropout>}});
}

}  // namespace anynpu::ops::shape
