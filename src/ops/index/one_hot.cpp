// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/index/index.h"
#include "ops/registry.h"

namespace anynpu::ops::index {

namespace {

Status one_hot_rule(OpContext& context) {
  const Operand &indices = context.inputs[0], &depth = context.inputs[1],
                &values = context.inputs[2];
  context.outputs[0].dtype = values.dtype;
  if (values.fully_known() && element_count(values.shape) != 2) {
    return fail(Code::shape_mismatch, "{}: values is {}, expected off and on", context.label(),
                to_string(values.shape));
  }
  if (!indices.has_shape || !depth.is_constant) return {};
  const int64_t count = load_one<int64_t>(depth.dtype, depth.constant.data());
  if (count < 0)
    return fail(Code::invalid_argument, "{}: depth is {}, expected 0 or more", context.label(),
                count);
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), indices.rank() + 1));
  Shape shape = indices.shape;
  shape.insert(shape.begin() + axis, count);
  return set_output(context, 0, values.dtype, std::move(shape));
}

PlanResult plan_one_hot(const OpContext& context) {
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank() + 1));
  const Shape out = context.outputs[0].shape;
  const int64_t depth = out[static_cast<size_t>(axis)];
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < out.size(); ++i) inner *= out[i];
  const auto count = static_cast<size_t>(element_count(out));
  const int64_t indices = element_count(context.inputs[0].shape);
  const size_t size = size_of(context.outputs[0].dtype);
  const DType type = context.inputs[0].dtype;
  const auto load = load_block<int64_t>(type);
  return make_plan([=](const RunArgs& args) {
    if (count == 0) return;
    std::byte* y = args.outputs[0];
    std::memcpy(y, args.inputs[2], size);  // all off, each copy twice as long as the one before
    for (size_t done = 1; done < count; done *= 2)
      std::memcpy(y + done * size, y, std::min(done, count - done) * size);
    int64_t block[kBlockLength];
    for (int64_t from = 0; from < indices; from += kBlockLength) {
      const int64_t n = std::min(kBlockLength, indices - from);
      load(args.inputs[0], from, 1, block, n);
      for (int64_t i = from; i < from + n; ++i) {
        const int64_t raw = block[i - from], index = raw < 0 ? raw + depth : raw;
        if (index < 0 || index >= depth) continue;  // leaves all off
        const int64_t at = (i / inner * depth + index) * inner + i % inner;
        std::memcpy(y + static_cast<size_t>(at) * size, args.inputs[2] + size, size);
      }
    }
  });
}

}  // namespace

void register_one_hot(Registry& registry) {
  registry.add(OpSchema{
      .name = "OneHot",
      .since = 9,
      .inputs = {{"indices", "I"}, {"depth", "D"}, {"values", "T"}},
      .outputs = {{"output", "T"}},
      .types = {{"I", kNumbers}, {"D", kNumbers}, {"T", kAnyFixed}},
      .attrs = {{"axis", AttrKind::i, int64_t{-1}}},
      .traits =
          OpTraits::linear().with(Rounding::exact).with(SizedBy::parameters).with(Strings::moved),
      .shape = one_hot_rule});
  registry.add(KernelDef{.op = "OneHot",
                         .name = "reference",
                         .types = kNumbers,
                         .create = create_with_runtime_params<plan_one_hot, 2>});
}

}  // namespace anynpu::ops::index
