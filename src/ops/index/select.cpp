// SPDX-License-Identifier: Apache-2.0
// Operators with data-dependent output sizes: Compress and NonZero. The model states the size (or
// the inputs are constants); values that give another size fail the run.
#include <cstring>

#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/index/index.h"
#include "ops/registry.h"

namespace anynpu::ops::index {

namespace {

int64_t chosen(const Operand& condition, int64_t limit) {
  int64_t count = 0;
  for (size_t i = 0; i < condition.constant.size() && static_cast<int64_t>(i) < limit; ++i) {
    count += condition.constant[i] != std::byte{0};
  }
  return count;
}

Status compress_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &condition = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known() || !condition.is_constant) return {};
  if (!context.has_attr("axis")) {
    return set_output(context, 0, x.dtype, {chosen(condition, element_count(x.shape))});
  }
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  Shape shape = x.shape;
  shape[static_cast<size_t>(axis)] = chosen(condition, shape[static_cast<size_t>(axis)]);
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_compress(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  int64_t outer = 1, extent = element_count(x);
  size_t inner = size_of(context.inputs[0].dtype);
  if (context.has_attr("axis")) {
    ANYNPU_ASSIGN(const int64_t axis,
                  normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
    extent = x[static_cast<size_t>(axis)];
    for (int64_t i = 0; i < axis; ++i) outer *= x[static_cast<size_t>(i)];
    for (size_t i = static_cast<size_t>(axis) + 1; i < x.size(); ++i)
      inner *= static_cast<size_t>(x[i]);
  }
  const int64_t flags = std::min(extent, element_count(context.inputs[1].shape));
  return make_plan([=](const RunArgs& args) {
    std::byte* y = args.outputs[0];
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < flags; ++i) {
        if (args.inputs[1][i] == std::byte{0} || inner == 0) continue;
        std::memcpy(y, args.inputs[0] + static_cast<size_t>(o * extent + i) * inner, inner);
        y += inner;
      }
    }
  });
}

// body(index) for each element that is not 0; a complex one is not if one of its parts is not.
template <typename Body>
void for_each_non_zero(DType type, const std::byte* x, int64_t count, const Body& body) {
  const auto load = load_block<double>(part_of(type));
  const int64_t parts = parts_of(type), most = kBlockLength / parts;
  double block[kBlockLength];
  for (int64_t at = 0; at < count; at += most) {
    const int64_t length = std::min(most, count - at);
    load(x, at * parts, 1, block, length * parts);
    for (int64_t i = 0; i < length; ++i) {
      if (block[i * parts] != 0 || block[i * parts + parts - 1] != 0) body(at + i);
    }
  }
}

Status non_zero_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = DType::i64;
  if (!x.fully_known() || !x.is_constant) return {};
  int64_t found = 0;
  for_each_non_zero(x.dtype, x.constant.data(), element_count(x.shape), [&](int64_t) { ++found; });
  return set_output(context, 0, DType::i64, {x.rank(), found});
}

PlanResult plan_non_zero(const OpContext& context) {
  const Shape shape = context.inputs[0].shape;
  const int64_t found = context.outputs[0].shape[1];
  const DType type = context.inputs[0].dtype;
  return make_plan([=](const RunArgs& args) {
    auto* y = output_of<int64_t>(args, 0);
    int64_t column = 0;
    for_each_non_zero(type, args.inputs[0], element_count(shape), [&](int64_t index) {
      for (size_t d = shape.size(); d-- > 0;) {
        y[static_cast<int64_t>(d) * found + column] = index % shape[d];
        index /= shape[d];
      }
      ++column;
    });
  });
}

}  // namespace

void register_select(Registry& registry) {
  registry.add(
      OpSchema{.name = "Compress",
               .since = 9,
               .inputs = {{"input", "T"}, {"condition", "B"}},
               .outputs = {{"output", "T"}},
               .types = {{"T", kAnyFixed}, {"B", {DType::boolean}}},
               .attrs = {{"axis", AttrKind::i}},
               .traits = OpTraits::data_movement().with(PrecisionClass::black).with(SizedBy::data),
               .shape = compress_rule});
  registry.add(OpSchema{
      .name = "NonZero",
      .since = 9,
      .inputs = {{"X", "T"}},
      .outputs = {{"Y", "I"}},
      .types = {{"T", kValues}},
      .traits = OpTraits::linear().with(Rounding::exact).with(SizedBy::data).with(Strings::moved),
      .shape = non_zero_rule});
  registry.add(KernelDef{.op = "Compress",
                         .name = "reference",
                         .types = kAnyFixed,
                         .create = create_with_runtime_params<plan_compress, 2>});
  registry.add(KernelDef{.op = "NonZero",
                         .name = "reference",
                         .types = kValues,
                         .create = create_with_runtime_params<plan_non_zero, 1>});
}

}  // namespace anynpu::ops::index
