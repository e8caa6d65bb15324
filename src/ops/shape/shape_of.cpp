// SPDX-License-Identifier: Apache-2.0
// Tensors made from shapes and scalars: Shape, Size, ConstantOfShape, EyeLike, Range.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/data_movement/axes.h"
#include "ops/elements/cast_attributes.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/shape/shape.h"
#include "tensor/element.h"

namespace anynpu::ops::shape {

namespace {

Shape selected_extents(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = bound(context.int_attr("start"));
  const int64_t end = context.has_attr("end") ? bound(context.int_attr("end")) : rank;
  if (start >= end) return {};
  return Shape(shape.begin() + start, shape.begin() + end);
}

Status shape_rule(OpContext& context) {
  context.outputs[0].dtype = DType::i64;
  if (!context.inputs[0].has_shape) return {};
  return set_output(context, 0, DType::i64,
                    {static_cast<int64_t>(selected_extents(context).size())});
}

Status size_rule(OpContext& context) { return set_output(context, 0, DType::i64, {}); }

PlanResult plan_numbers(std::vector<int64_t> values) {
  return make_plan([values = std::move(values)](const RunArgs& args) {
    if (!values.empty())
      std::memcpy(args.outputs[0], values.data(), values.size() * sizeof(int64_t));
  });
}
PlanResult plan_shape(const OpContext& context) { return plan_numbers(selected_extents(context)); }
PlanResult plan_size(const OpContext& context) {
  return plan_numbers({element_count(context.inputs[0].shape)});
}

const graph::TensorAttr* tensor_attr(const OpContext& context, const char* key) {
  const auto found = context.node->attrs.find(key);
  return found == context.node->attrs.end() ? nullptr
                                            : std::get_if<graph::TensorAttr>(&found->second);
}

Status constant_of_shape_rule(OpContext& context) {
  const graph::TensorAttr* value = tensor_attr(context, "value");
  if (value && (element_count(value->shape) != 1 || !kAnyPacked.has(value->dtype) ||
                value->data->bytes.size() != size_of(value->dtype))) {
    return fail(Code::invalid_argument, "{}: value is {} of {}, expected one number",
                context.label(), to_string(value->shape), name_of(value->dtype));
  }
  context.outputs[0].dtype = value ? value->dtype : DType::f32;
  const IntegerList shape = integers_of(context.inputs[0]);
  if (!shape.known) return {};
  for (int64_t extent : shape.values) {
    if (extent < 0) {
      return fail(Code::invalid_argument, "{}: shape {} has a negative extent", context.label(),
                  shape.values);
    }
  }
  return set_output(context, 0, context.outputs[0].dtype, shape.values);
}

PlanResult plan_constant_of_shape(const OpContext& context) {
  const graph::TensorAttr* value = tensor_attr(context, "value");
  const DType dtype = context.outputs[0].dtype;
  const size_t size = size_of(dtype);
  std::vector<std::byte> element(size, std::byte{0});
  if (value) element.assign(value->data->bytes.begin(), value->data->bytes.end());
  const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
  const size_t bytes = bytes_of(dtype, count);
  const bool packed = bits_of(dtype) == 4;
  if (packed) element[0] = (element[0] & std::byte{15}) | element[0] << 4;
  return make_plan([=](const RunArgs& args) {
    for (size_t at = 0; at < bytes; at += size)
      std::memcpy(args.outputs[0] + at, element.data(), size);
    if (packed && count % 2 != 0) args.outputs[0][bytes - 1] &= std::byte{15};
  });
}

Status eye_rule(OpContext& context) {
  DType dtype = context.inputs[0].dtype;
  if (context.has_attr("dtype")) {
    ANYNPU_ASSIGN(dtype, dtype_of_onnx(context, context.int_attr("dtype")));
  }
  context.outputs[0].dtype = dtype;
  if (!context.inputs[0].has_shape) return {};
  if (context.inputs[0].rank() != 2) {
    return fail(Code::shape_mismatch, "{}: the input is {}, expected two dimensions",
                context.label(), to_string(context.inputs[0].shape));
  }
  return set_output(context, 0, dtype, context.inputs[0].shape);
}

PlanResult plan_eye(const OpContext& context) {
  const Shape shape = context.outputs[0].shape;
  const int64_t k = context.int_attr("k");
  const auto store = store_block<int64_t>(context.outputs[0].dtype);
  if (!store) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    for (int64_t i = 0; i < shape[0]; ++i) {
      for (int64_t j = 0; j < shape[1]; ++j) {
        const int64_t value = j - i == k;
        store(args.outputs[0], i * shape[1] + j, &value, 1);
      }
    }
  });
}

// How many numbers a Range has: 0 where it goes the other way, has no step or never ends.
template <typename W>
int64_t range_length(const OpContext& context) {
  const auto at = [&](size_t i) {
    return load_one<W>(context.inputs[i].dtype, context.inputs[i].constant.data());
  };
  if constexpr (std::is_same_v<W, double>) {
    const double steps = std::ceil((at(1) - at(0)) / at(2));
    return steps > 0 && steps < 0x1p50 ? static_cast<int64_t>(steps) : 0;
  } else {  // the difference of two int64 needs 65 bits
    const __int128 way = static_cast<__int128>(at(1)) - at(0), step = at(2);
    if (step == 0 || way == 0 || (way > 0) != (step > 0)) return 0;
    const __int128 steps = (way + step - (step > 0 ? 1 : -1)) / step;
    return steps < (__int128{1} << 50) ? static_cast<int64_t>(steps) : 0;
  }
}

Status range_rule(OpContext& context) {
  const DType dtype = context.inputs[0].dtype;
  context.outputs[0].dtype = dtype;
  // Floats are computed in double and rounded once: at least as exact as any stash_type.
  if (const int64_t stash = context.int_attr("stash_type"); stash != 0) {
    ANYNPU_ASSIGN(const DType type, dtype_of_onnx(context, stash));
    if (!kFloats.has(type)) {
      return fail(Code::invalid_argument, "{}: stash_type is {}, expected a floating type",
                  context.label(), name_of(type));
    }
  }
  for (const Operand& input : context.inputs) {
    if (input.has_shape && is_static(input.shape) && element_count(input.shape) != 1) {
      return fail(Code::shape_mismatch, "{}: an input is {}, expected a scalar", context.label(),
                  to_string(input.shape));
    }
    if (!input.is_constant) return {};
  }
  const bool real = is_floating(dtype);
  return set_output(context, 0, dtype,
                    {real ? range_length<double>(context) : range_length<int64_t>(context)});
}

double element_of_range(double start, int64_t i, double delta) {
  return start + static_cast<double>(i) * delta;
}
// Inside the range there is no overflow, but i * delta alone may have one.
int64_t element_of_range(int64_t start, int64_t i, int64_t delta) {
  return static_cast<int64_t>(static_cast<uint64_t>(start) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
}

template <typename W>
PlanResult plan_range_of(const OpContext& context) {
  const DType dtype = context.inputs[0].dtype;
  const auto store = store_block<W>(dtype);
  const int64_t count = context.outputs[0].shape[0];
  return make_plan([=](const RunArgs& args) {
    const W start = load_one<W>(dtype, args.inputs[0]), delta = load_one<W>(dtype, args.inputs[2]);
    for (int64_t i = 0; i < count; ++i) {
      const W value = element_of_range(start, i, delta);
      store(args.outputs[0], i, &value, 1);
    }
  });
}
PlanResult plan_range(const OpContext& context) {
  return is_floating(context.inputs[0].dtype) ? plan_range_of<double>(context)
                                              : plan_range_of<int64_t>(context);
}

}  // namespace

void register_shape_of(Registry& registry) {
  OpSchema shape{.name = "Shape",
                 .since = 1,
                 .inputs = {{"data", "T"}},
                 .outputs = {{"shape", "I"}},
                 .types = {{"T", kAnyPacked}},
                 .traits = OpTraits::linear().with(Strings::moved),
                 .shape = shape_rule,
                 .reads_shapes_only = true};
  registry.add(shape);
  shape.since = 15;
  shape.attrs = {{"start", AttrKind::i, int64_t{0}}, {"end", AttrKind::i}};
  registry.add(shape);
  registry.add(OpSchema{.name = "Size",
                        .since = 1,
                        .inputs = {{"data", "T"}},
                        .outputs = {{"size", "I"}},
                        .types = {{"T", kAnyPacked}},
                        .traits = OpTraits::linear().with(Strings::moved),
                        .shape = size_rule,
                        .reads_shapes_only = true});
  registry.add(
      OpSchema{.name = "ConstantOfShape",
               .since = 9,
               .inputs = {{"input", "I"}},
               .outputs = {{"output", "T"}},
               .types = {{"I", {DType::i64}}},
               .attrs = {{"value", AttrKind::tensor}},
               .traits = OpTraits::linear().with(PrecisionClass::fixed).with(SizedBy::parameters),
               .shape = constant_of_shape_rule});
  registry.add(OpSchema{.name = "EyeLike",
                        .since = 9,
                        .inputs = {{"input", "T"}},
                        .outputs = {{"output", "U"}},
                        .types = {{"T", kNumbers | DTypeSet{DType::boolean}}},
                        .attrs = {{"dtype", AttrKind::i}, {"k", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::linear().with(PrecisionClass::fixed),
                        .shape = eye_rule,
                        .reads_shapes_only = true});
  OpSchema range{.name = "Range",
                 .since = 11,
                 .inputs = {{"start", "T"}, {"limit", "T"}, {"delta", "T"}},
                 .outputs = {{"output", "T"}},
                 .types = {{"T", kNumbers}},
                 .traits = OpTraits::linear().with(SizedBy::data),
                 .shape = range_rule};
  registry.add(range);
  range.since = 27;
  range.attrs = {{"stash_type", AttrKind::i, int64_t{1}}};
  registry.add(range);
  const auto add = [&](std::string_view op, DTypeSet types, auto create) {
    registry.add(KernelDef{.op = op, .name = "reference", .types = types, .create = create});
  };
  add("Shape", kAnyPacked, create_plain<plan_shape>);
  add("Size", kAnyPacked, create_plain<plan_size>);
  add("ConstantOfShape", {DType::i64}, create_with_runtime_params<plan_constant_of_shape, 1>);
  add("EyeLike", kNumbers | DTypeSet{DType::boolean}, create_plain<plan_eye>);
  add("Range", kNumbers, create_with_runtime_params<plan_range, 7>);
}

void register_family(Registry& registry) {
  register_shape_of(registry);
  register_reshape(registry);
  register_concat(registry);
  register_transpose(registry);
  register_slice(registry);
  register_split(registry);
  register_repeat(registry);
  register_pad(registry);
  register_rearrange(registry);
  register_views(registry);
}

}  // namespace anynpu::ops::shape
