// SPDX-License-Identifier: Apache-2.0
// DepthToSpace, SpaceToDepth (strided copies of six dimensions), Trilu and ReverseSequence.
#include <algorithm>
#include <cstring>

#include "ops/data_movement/strided_copy.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/shape/shape.h"

namespace anynpu::ops::shape {

namespace {

Status blocks_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  const std::string mode = context.string_attr("mode");
  if (!mode.empty() && mode != "DCR" && mode != "CRD") {
    return fail(Code::invalid_argument, "{}: mode is '{}', expected DCR or CRD", context.label(),
                mode);
  }
  const int64_t block = context.int_attr("blocksize");
  const bool to_space = context.schema->name == "DepthToSpace";
  bool fits = x.rank() == 4 && block > 0 && block < 65536 && is_static(x.shape);
  if (fits) {
    fits = to_space ? x.shape[1] % (block * block) == 0
                    : x.shape[2] % block == 0 && x.shape[3] % block == 0;
  }
  if (!fits) {
    return fail(Code::shape_mismatch, "{}: blocksize {} does not divide input {} of N, C, H, W",
                context.label(), block, to_string(x.shape));
  }
  const Shape& s = x.shape;
  if (to_space)
    return set_output(context, 0, x.dtype,
                      {s[0], s[1] / (block * block), s[2] * block, s[3] * block});
  return set_output(context, 0, x.dtype, {s[0], s[1] * block * block, s[2] / block, s[3] / block});
}

PlanResult plan_blocks_move(const OpContext& context) {
  const Shape& s = context.inputs[0].shape;
  const int64_t b = context.int_attr("blocksize");
  const size_t size = size_of(context.inputs[0].dtype);
  if (context.schema->name == "SpaceToDepth") {
    // input as N, C, H/b, b, W/b, b; output N, b, b, C, H/b, W/b, or N, C, b, b, H/b, W/b
    const auto st = strides_of({s[0], s[1], s[2] / b, b, s[3] / b, b});
    if (context.string_attr("mode") == "CRD")
      return plan_strided_copy({s[0], s[1], b, b, s[2] / b, s[3] / b},
                               {st[0], st[1], st[3], st[5], st[2], st[4]}, 0, size);
    return plan_strided_copy({s[0], b, b, s[1], s[2] / b, s[3] / b},
                             {st[0], st[3], st[5], st[1], st[2], st[4]}, 0, size);
  }
  const int64_t c = s[1] / (b * b);
  if (context.string_attr("mode") == "CRD") {  // input N, C', b, b, H, W
    const auto st = strides_of({s[0], c, b, b, s[2], s[3]});
    return plan_strided_copy({s[0], c, s[2], b, s[3], b},
                             {st[0], st[1], st[4], st[2], st[5], st[3]}, 0, size);
  }
  const auto st = strides_of({s[0], b, b, c, s[2], s[3]});  // input N, b, b, C', H, W
  return plan_strided_copy({s[0], c, s[2], b, s[3], b}, {st[0], st[3], st[4], st[1], st[5], st[2]},
                           0, size);
}

Status same_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  if (x.rank() < 2) {
    return fail(Code::shape_mismatch, "{}: the input is {}, expected two dimensions or more",
                context.label(), to_string(x.shape));
  }
  return set_output(context, 0, x.dtype, x.shape);
}

PlanResult plan_trilu(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const int64_t lines = columns == 0 ? 0 : element_count(shape) / columns;
  const size_t size = size_of(context.inputs[0].dtype);
  const bool upper = context.int_attr("upper") != 0, has_k = context.has_input(1);
  return make_plan([=](const RunArgs& args) {
    const int64_t k = has_k ? *input_of<int64_t>(args, 1) : 0;
    const auto least = static_cast<size_t>(1 + 16384 / (columns + 1));
    parallel(static_cast<size_t>(lines), least, [&](size_t begin, size_t end) {
      for (size_t line = begin; line < end; ++line) {
        // The columns before `cut` lie left of the diagonal, for the lower side with it.
        const int64_t row = static_cast<int64_t>(line) % rows, near = std::clamp(k, -rows, columns);
        const int64_t cut = std::clamp<int64_t>(row + near + (upper ? 0 : 1), 0, columns);
        const size_t left = static_cast<size_t>(cut) * size,
                     all = static_cast<size_t>(columns) * size;
        const std::byte* x = args.inputs[0] + line * all;
        std::byte* y = args.outputs[0] + line * all;
        if (upper) {
          std::memset(y, 0, left);
          std::memcpy(y + left, x + left, all - left);
        } else {
          std::memcpy(y, x, left);
          std::memset(y + left, 0, all - left);
        }
      }
    });
  });
}

Status reverse_rule(OpContext& context) {
  ANYNPU_TRY(same_rule(context));
  const int64_t batch = context.int_attr("batch_axis"), time = context.int_attr("time_axis");
  if (!(batch == 0 && time == 1) && !(batch == 1 && time == 0)) {
    return fail(Code::invalid_argument, "{}: batch_axis {} and time_axis {}, expected 0 and 1",
                context.label(), batch, time);
  }
  const Operand &x = context.inputs[0], &lengths = context.inputs[1];
  if (x.fully_known() && lengths.fully_known() &&
      element_count(lengths.shape) != x.shape[static_cast<size_t>(batch)]) {
    return fail(Code::shape_mismatch, "{}: {} lengths for {} batches", context.label(),
                element_count(lengths.shape), x.shape[static_cast<size_t>(batch)]);
  }
  return {};
}

PlanResult plan_reverse(const OpContext& context) {
  const Shape shape = context.inputs[0].shape;
  const auto batch = static_cast<size_t>(context.int_attr("batch_axis")), time = 1 - batch;
  size_t inner = size_of(context.inputs[0].dtype);
  for (size_t i = 2; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  return make_plan([=](const RunArgs& args) {
    for (int64_t b = 0; b < shape[batch]; ++b) {
      const int64_t length = std::min(input_of<int64_t>(args, 1)[b], shape[time]);
      for (int64_t t = 0; t < shape[time]; ++t) {
        const int64_t from = t < length ? length - 1 - t : t;
        const auto place = [&](int64_t at) {
          return static_cast<size_t>(batch == 0 ? b * shape[1] + at : at * shape[1] + b) * inner;
        };
        std::memcpy(args.outputs[0] + place(t), args.inputs[0] + place(from), inner);
      }
    }
  });
}

}  // namespace

void register_rearrange(Registry& registry) {
  OpSchema blocks{.name = "SpaceToDepth",
                  .since = 1,
                  .inputs = {{"input", "T"}},
                  .outputs = {{"output", "T"}},
                  .types = {{"T", kAnyFixed}},
                  .attrs = {{"blocksize", AttrKind::i, {}, true}},
                  .traits = OpTraits::data_movement(),
                  .shape = blocks_rule};
  const AttrSchema mode{"mode", AttrKind::s, std::string_view("DCR")};
  OpSchema to_space = blocks;
  to_space.name = "DepthToSpace";
  for (OpSchema* schema : {&blocks, &to_space}) {
    registry.add(*schema);
    schema->since = schema == &blocks ? 28 : 11;
    schema->attrs.push_back(mode);
    registry.add(*schema);
  }
  registry.add(OpSchema{.name = "Trilu",
                        .since = 14,
                        .inputs = {{"input", "T"}, {"k", "I", Presence::optional}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kAnyFixed}, {"I", {DType::i64}}},
                        .attrs = {{"upper", AttrKind::i, int64_t{1}}},
                        .traits = OpTraits::general().with(Rounding::exact).with(Strings::moved),
                        .shape = same_rule});
  registry.add(OpSchema{
      .name = "ReverseSequence",
      .since = 10,
      .inputs = {{"input", "T"}, {"sequence_lens", "I"}},
      .outputs = {{"Y", "T"}},
      .types = {{"T", kAnyFixed}, {"I", {DType::i64}}},
      .attrs = {{"batch_axis", AttrKind::i, int64_t{1}}, {"time_axis", AttrKind::i, int64_t{0}}},
      .traits = OpTraits::data_movement().with(PrecisionClass::black),
      .shape = reverse_rule});
  const auto add = [&](std::string_view op, auto create) {
    registry.add(KernelDef{.op = op, .name = "reference", .types = kAnyFixed, .create = create});
  };
  add("SpaceToDepth", create_plain<plan_blocks_move>);
  add("DepthToSpace", create_plain<plan_blocks_move>);
  add("Trilu", create_plain<plan_trilu>);
  add("ReverseSequence", create_plain<plan_reverse>);
}

}  // namespace anynpu::ops::shape
