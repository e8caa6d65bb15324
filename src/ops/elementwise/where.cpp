// SPDX-License-Identifier: Apache-2.0
// Where: elements are moved, not computed, so they travel as unsigned numbers of their size.
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace {

Status where_rule(OpContext& context) { return broadcast_rule(context, context.inputs[1].dtype); }

DType raw_type(DType type) {
  switch (size_of(type)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

void choose(const uint64_t* const* in, uint64_t* out, int64_t count, const Params&) {
  for (int64_t i = 0; i < count; ++i) out[i] = in[0][i] != 0 ? in[1][i] : in[2][i];
}

PlanResult plan_where(const OpContext& context) {
  static const BlockOp op{.uint64 = choose};
  OpContext raw = context;
  if (context.outputs[0].dtype == DType::c128) {  // each the two halves of an element
    raw.inputs[0].shape.push_back(1);
    for (Operand* operand : {&raw.inputs[1], &raw.inputs[2], &raw.outputs[0]})
      operand->shape.push_back(2);
  }
  for (Operand* operand : {&raw.inputs[1], &raw.inputs[2], &raw.outputs[0]}) {
    operand->dtype = raw_type(operand->dtype);
  }
  return plan_blocks(raw, op, WideKind::uint64, {});
}

}  // namespace

void register_where(Registry& registry) {
  registry.add(OpSchema{.name = "Where",
                        .since = 9,
                        .inputs = {{"condition", "B"}, {"X", "T"}, {"Y", "T"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"B", {DType::boolean}}, {"T", kAnyFixed}},
                        .traits = OpTraits::data_movement(),
                        .shape = where_rule});
  add_list(registry, "Where", {"wide_where", {DType::boolean}, nullptr, create_plain<plan_where>});
}

}  // namespace anynpu::ops::elementwise
