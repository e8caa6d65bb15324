// SPDX-License-Identifier: Apache-2.0
// MoveView: copies a strided view to a contiguous tensor, from one, or between two views. Without
// from_strides the input is contiguous; without to_strides the output is. The other elements of a
// strided output are not changed. Stage: a copy that no plan removes.
// Reinterpret: the same bytes as elements of another type. The rank stays, the extent of the last
// axis is scaled by the ratio of the sizes (as torch.Tensor.view(dtype)); 4-bit types are allowed.
// BitCast (reshape.cpp) adds or removes a last axis instead, and takes whole bytes only.
#include <cstring>

#include "ops/data_movement/strided_move.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "tensor/onnx_type.h"

namespace anynpu::ops::shape {

namespace {

struct Move {
  Shape shape;
  std::vector<int64_t> from, to;
  int64_t from_offset = 0, to_offset = 0, to_count = 0;
};

Result<Move> move_of(const OpContext& context) {
  Move move;
  move.shape = context.ints_attr("shape");
  move.from =
      context.has_attr("from_strides") ? context.ints_attr("from_strides") : strides_of(move.shape);
  move.to =
      context.has_attr("to_strides") ? context.ints_attr("to_strides") : strides_of(move.shape);
  move.from_offset = context.int_attr("from_offset");
  move.to_offset = context.int_attr("to_offset");
  move.to_count = context.int_attr("to_count");
  if (move.from.size() != move.shape.size() || move.to.size() != move.shape.size()) {
    return fail(Code::invalid_argument, "{}: {} and {} strides for a view of {} axes",
                context.label(), move.from.size(), move.to.size(), move.shape.size());
  }
  return move;
}

// Whether every element of the view is one of `count`.
bool inside(const Shape& shape, const std::vector<int64_t>& strides, int64_t offset,
            int64_t count) {
  int64_t low = offset, high = offset;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return true;
    const int64_t reach = (shape[i] - 1) * strides[i];
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && high < count;
}

Status move_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(const Move move, move_of(context));
  context.outputs[0].dtype = x.dtype;
  context.outputs[0].has_shape = true;
  context.outputs[0].shape = context.has_attr("to_strides") ? Shape{move.to_count} : move.shape;
  if (x.fully_known() && !inside(move.shape, move.from, move.from_offset, element_count(x.shape))) {
    return fail(Code::shape_mismatch,
                "{}: a view of {} with strides {} from {} leaves its {} elements", context.label(),
                to_string(move.shape), move.from, move.from_offset, element_count(x.shape));
  }
  if (!inside(move.shape, move.to, move.to_offset, element_count(context.outputs[0].shape))) {
    return fail(Code::shape_mismatch,
                "{}: a view of {} with strides {} from {} leaves its {} elements", context.label(),
                to_string(move.shape), move.to, move.to_offset,
                element_count(context.outputs[0].shape));
  }
  return {};
}

PlanResult plan_move(const OpContext& context) {
  ANYNPU_ASSIGN(const Move move, move_of(context));
  return plan_strided_move(move.shape, {move.from, move.from_offset}, {move.to, move.to_offset},
                           size_of(context.inputs[0].dtype));
}

Status stage_rule(OpContext& context) {
  context.outputs[0] = context.inputs[0];
  context.outputs[0].is_constant = false;
  context.outputs[0].constant = {};
  return {};
}

PlanResult plan_stage(const OpContext& context) {
  const size_t bytes = bytes_of(context.inputs[0].dtype,
                                static_cast<size_t>(element_count(context.inputs[0].shape)));
  return plan_strided_move({static_cast<int64_t>(bytes)}, {{1}, 0}, {{1}, 0}, 1);
}

Status reinterpret_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  const DType to = dtype_of_cast_number(context.int_attr("to"));
  context.outputs[0].dtype = to;
  const auto from_bits = static_cast<int64_t>(bits_of(x.dtype));
  const auto to_bits = static_cast<int64_t>(bits_of(to));
  if (to_bits == 0 || x.rank() == 0 || x.shape.back() * from_bits % to_bits != 0) {
    return fail(Code::shape_mismatch, "{}: {} elements of {} bits are not a whole number of {}",
                context.label(), x.rank() == 0 ? 1 : x.shape.back(), from_bits, name_of(to));
  }
  Shape shape = x.shape;
  if (shape.back() != kDynamicDim) shape.back() = shape.back() * from_bits / to_bits;
  context.outputs[0].shape = std::move(shape);
  context.outputs[0].has_shape = x.has_shape;
  return {};
}

PlanResult plan_reinterpret(const OpContext& context) {
  const auto count = static_cast<size_t>(element_count(context.inputs[0].shape));
  const size_t bytes = bytes_of(context.inputs[0].dtype, count);
  auto plan = make_plan([=](const RunArgs& args) {
    if (args.outputs[0] != args.inputs[0] && bytes > 0)
      std::memcpy(args.outputs[0], args.inputs[0], bytes);
  });
  plan->in_place_input = 0;
  plan->view = true;
  return plan;
}

}  // namespace

void register_views(Registry& registry) {
  registry.add(OpSchema{.name = "MoveView",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kAnyFixed}},
                        .attrs = {{"shape", AttrKind::ints, {}, true},
                                  {"from_strides", AttrKind::ints},
                                  {"from_offset", AttrKind::i, int64_t{0}},
                                  {"to_strides", AttrKind::ints},
                                  {"to_offset", AttrKind::i, int64_t{0}},
                                  {"to_count", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::data_movement().with(Strings::refused),
                        .shape = move_rule});
  registry.add(KernelDef{.op = "MoveView",
                         .name = "strided_move",
                         .domain = "anynpu",
                         .types = kAnyFixed,
                         .create = create_plain<plan_move>});
  registry.add(OpSchema{.name = "Reinterpret",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T1"}},
                        .outputs = {{"Y", "T2"}},
                        .types = {{"T1", kAnyPacked}, {"T2", kAnyPacked}},
                        .attrs = {{"to", AttrKind::i, {}, true}},
                        .traits = OpTraits::general(),
                        .shape = reinterpret_rule});
  registry.add(KernelDef{.op = "Reinterpret",
                         .name = "view",
                         .domain = "anynpu",
                         .types = kAnyPacked,
                         .create = create_plain<plan_reinterpret>});
  registry.add(OpSchema{.name = "Stage",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kAnyFixed}},
                        .traits = OpTraits::data_movement().with(Strings::refused),
                        .shape = stage_rule});
  registry.add(KernelDef{.op = "Stage",
                         .name = "strided_move",
                         .domain = "anynpu",
                         .types = kAnyFixed,
                         .create = create_plain<plan_stage>});
}

}  // namespace anynpu::ops::shape
