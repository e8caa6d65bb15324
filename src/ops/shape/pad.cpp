// SPDX-License-Identifier: Apache-2.0
// Pad (all modes) and CenterCropPad.
#include <algorithm>

#include "ops/data_movement/axes.h"
#include "ops/data_movement/mapped_copy.h"
#include "ops/elements/wide.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/shape/shape.h"
#include "ops/unpacked.h"

namespace anynpu::ops::shape {

namespace {

struct Pads {
  bool known = true;
  std::vector<int64_t> begin, end;
};

Result<Pads> pads_of(const OpContext& context) {
  const int64_t rank = context.inputs[0].rank();
  Pads pads{true, std::vector<int64_t>(static_cast<size_t>(rank), 0),
            std::vector<int64_t>(static_cast<size_t>(rank), 0)};
  std::vector<int64_t> values = context.ints_attr(context.schema->since < 2 ? "paddings" : "pads");
  std::vector<int64_t> axes;
  if (context.schema->since >= 11) {
    const IntegerList list = integers_of(context.inputs[1]);
    const IntegerList named = context.has_input(3) ? integers_of(context.inputs[3]) : IntegerList{};
    pads.known = list.known && (!named.present || named.known);
    if (!pads.known) return pads;
    values = list.values;
    axes = named.values;
  }
  if (axes.empty()) {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (values.size() != 2 * axes.size()) {
    return fail(Code::invalid_argument, "{}: {} pads for {} axes, expected two per axis",
                context.label(), values.size(), axes.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, axes[i], rank));
    pads.begin[static_cast<size_t>(axis)] = values[i];
    pads.end[static_cast<size_t>(axis)] = values[i + axes.size()];
  }
  return pads;
}

Status pad_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const Pads pads, pads_of(context));
  if (!pads.known) return {};
  const std::string mode = context.string_attr("mode");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return fail(Code::invalid_argument,
                "{}: mode is '{}', expected constant, reflect, edge or wrap", context.label(),
                mode);
  }
  Shape shape = x.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == kDynamicDim) continue;
    const bool grows = pads.begin[i] > 0 || pads.end[i] > 0;
    if (__builtin_add_overflow(shape[i], pads.begin[i], &shape[i]) ||
        __builtin_add_overflow(shape[i], pads.end[i], &shape[i]) || shape[i] < 0 ||
        (mode != "constant" && x.shape[i] == 0 && grows)) {
      return fail(Code::invalid_argument, "{}: pads {} and {} do not fit extent {}",
                  context.label(), pads.begin[i], pads.end[i], x.shape[i]);
    }
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

// The input index that stands for `at`, outside of the axis.
int64_t source_outside(int64_t at, int64_t extent, const std::string& mode) {
  if (mode == "edge") return at < 0 ? 0 : extent - 1;
  if (mode == "wrap") return (at % extent + extent) % extent;
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);  // reflect
  const int64_t folded = (at % period + period) % period;
  return folded < extent ? folded : period - folded;
}

// `begin` elements in front of an axis of `extent`, which is `count` long afterwards.
std::vector<int64_t> padded_axis(int64_t begin, int64_t extent, int64_t count, int64_t stride,
                                 const std::string& mode) {
  std::vector<int64_t> map(static_cast<size_t>(count), -1);
  const int64_t first = std::clamp<int64_t>(begin, 0, count);
  const int64_t last = std::clamp<int64_t>(begin + extent, first, count);
  for (int64_t i = first; i < last; ++i) map[static_cast<size_t>(i)] = (i - begin) * stride;
  if (mode == "constant") return map;
  const auto outside = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      map[static_cast<size_t>(i)] = source_outside(i - begin, extent, mode) * stride;
  };
  outside(0, first);
  outside(last, count);
  return map;
}

PlanResult plan_pad(const OpContext& context) {
  const Shape &in = context.inputs[0].shape, &out = context.outputs[0].shape;
  ANYNPU_ASSIGN(const Pads pads, pads_of(context));
  const auto strides = strides_of(in);
  const std::string mode = context.string_attr("mode");
  constexpr int64_t kMostExtent = int64_t{1} << 26;  // a table has 8 bytes for each index
  AxisMaps maps;
  for (size_t d = 0; d < in.size(); ++d) {
    if (out[d] > kMostExtent) {
      return fail(Code::unsupported_shape,
                  "{}: axis {} is padded to {} elements, at most {} are supported; reshape the "
                  "tensor to more axes in front of it",
                  context.label(), d, out[d], kMostExtent);
    }
    maps.push_back(padded_axis(pads.begin[d], in[d], out[d], strides[d], mode));
  }
  const size_t size = size_of(context.inputs[0].dtype);
  std::vector<std::byte> fill(size, std::byte{0});
  if (context.schema->since < 11) {
    const auto value = static_cast<double>(context.float_attr("value"));
    store_block<double>(context.inputs[0].dtype)(fill.data(), 0, &value, 1);
  }
  return plan_mapped_copy(out, std::move(maps), size,
                          {context.has_input(2) ? 2 : -1, std::move(fill)});
}

Result<std::vector<int64_t>> crop_axes(const OpContext& context) {
  std::vector<int64_t> axes = context.ints_attr("axes");
  const int64_t rank = context.inputs[0].rank();
  if (!context.has_attr("axes")) {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  for (int64_t& axis : axes) {
    ANYNPU_ASSIGN(axis, normal_axis(context, axis, rank));
  }
  return axes;
}

Status crop_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  const IntegerList wanted = integers_of(context.inputs[1]);
  if (!x.has_shape || !wanted.known) return {};
  ANYNPU_ASSIGN(const auto axes, crop_axes(context));
  if (wanted.values.size() != axes.size()) {
    return fail(Code::invalid_argument, "{}: shape {} for {} axes, expected one extent each",
                context.label(), wanted.values, axes.size());
  }
  Shape shape = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (wanted.values[i] < 0)
      return fail(Code::invalid_argument, "{}: shape {} is negative", context.label(),
                  wanted.values);
    shape[static_cast<size_t>(axes[i])] = wanted.values[i];
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_crop(const OpContext& context) {
  const Shape &in = context.inputs[0].shape, &out = context.outputs[0].shape;
  const auto strides = strides_of(in);
  AxisMaps maps(in.size());
  for (size_t d = 0; d < in.size(); ++d) {
    // Half of the difference, rounded down, goes in front.
    const int64_t shift = in[d] >= out[d] ? (in[d] - out[d]) / 2 : -((out[d] - in[d]) / 2);
    for (int64_t i = 0; i < out[d]; ++i) {
      const int64_t at = i + shift;
      maps[d].push_back(at >= 0 && at < in[d] ? at * strides[d] : -1);
    }
  }
  const size_t size = size_of(context.inputs[0].dtype);
  return plan_mapped_copy(out, std::move(maps), size,
                          {-1, std::vector<std::byte>(size, std::byte{0})});
}

}  // namespace

void register_pad(Registry& registry) {
  const AttrSchema mode{"mode", AttrKind::s, std::string_view("constant")};
  registry.add(
      OpSchema{.name = "Pad",
               .since = 2,
               .inputs = {{"data", "T"}},
               .outputs = {{"output", "T"}},
               .types = {{"T", kFloats}},
               .attrs = {mode, {"pads", AttrKind::ints, {}, true}, {"value", AttrKind::f, 0.0f}},
               .traits = OpTraits::data_movement().with(SizedBy::parameters),
               .shape = pad_rule});
  OpSchema schema{
      .name = "Pad",
      .since = 11,
      .inputs = {{"data", "T"}, {"pads", "I"}, {"constant_value", "T", Presence::optional}},
      .outputs = {{"output", "T"}},
      .types = {{"T", kAnyPacked}, {"I", {DType::i64}}},
      .attrs = {mode},
      .traits = OpTraits::data_movement().with(SizedBy::parameters),
      .shape = pad_rule};
  registry.add(schema);
  schema.since = 18;
  schema.inputs.push_back({"axes", "J", Presence::optional});
  schema.types.push_back({"J", {DType::i32, DType::i64}});
  registry.add(schema);
  registry.add(OpSchema{
      .name = "CenterCropPad",
      .since = 18,
      .inputs = {{"input_data", "T"}, {"shape", "I"}},
      .outputs = {{"output_data", "T"}},
      .types = {{"T", kAnyFixed}, {"I", {DType::i32, DType::i64}}},
      .attrs = {{"axes", AttrKind::ints}},
      .traits =
          OpTraits::general().with(Rounding::exact).with(SizedBy::parameters).with(Strings::moved),
      .shape = crop_rule});
  registry.add(KernelDef{.op = "Pad",
                         .name = "mapped_copy",
                         .types = kAnyPacked,
                         .create = create_with_runtime_params<plan_unpacked<plan_pad>, 0b1010>});
  registry.add(KernelDef{.op = "CenterCropPad",
                         .name = "mapped_copy",
                         .types = kAnyFixed,
                         .create = create_with_runtime_params<plan_crop, 2>});
}

}  // namespace anynpu::ops::shape
