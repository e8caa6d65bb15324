// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin along one axis.
#include "ops/elements/order.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/walk.h"
#include "ops/registry.h"

namespace anynpu::ops::reduce {

namespace {

Status arg_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = DType::i64;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  Shape shape = x.shape;
  if (context.int_attr("keepdims") != 0)
    shape[static_cast<size_t>(axis)] = 1;
  else
    shape.erase(shape.begin() + axis);
  return set_output(context, 0, DType::i64, std::move(shape));
}

template <typename W, bool largest>
PlanResult plan_arg_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  std::vector<bool> reduce(x.shape.size(), false);
  reduce[static_cast<size_t>(axis)] = true;
  const ReduceWalk walk = reduce_walk(x.shape, reduce);
  const LoadBlock<W> load = load_block<W>(x.dtype);
  const bool last = context.int_attr("select_last_index") != 0;
  return make_plan([=](const RunArgs& args) {
    for_each_group(walk, load, args.inputs[0], [&](int64_t output, auto&& next) {
      W block[kBlockLength];
      W best{};
      int64_t found = 0, at = 0;
      while (const int64_t count = next(block)) {
        for (int64_t i = 0; i < count; ++i, ++at) {
          // NaN is found first, as numpy has it, whether the largest is looked for or the smallest.
          const bool nan = is_nan(block[i]) && !is_nan(best);
          const bool better = nan || (largest ? block[i] > best : block[i] < best);
          if (at == 0 || better || (last && block[i] == best)) best = block[i], found = at;
        }
      }
      output_of<int64_t>(args, 0)[output] = found;
    });
  });
}

template <bool largest>
PlanResult plan_arg(const OpContext& context) {
  switch (wide_kind(context.inputs[0].dtype)) {
    case WideKind::float64:
      return plan_arg_of<double, largest>(context);
    case WideKind::int64:
      return plan_arg_of<int64_t, largest>(context);
    default:
      return plan_arg_of<uint64_t, largest>(context);
  }
}

}  // namespace

void register_arg_reduce(Registry& registry) {
  for (std::string_view name : {"ArgMax", "ArgMin"}) {
    OpSchema schema{
        .name = name,
        .since = 1,
        .inputs = {{"data", "T"}},
        .outputs = {{"reduced", "I"}},
        .types = {{"T", kNumbers}},
        .attrs = {{"axis", AttrKind::i, int64_t{0}}, {"keepdims", AttrKind::i, int64_t{1}}},
        .traits = OpTraits::linear().with(Rounding::exact),
        .shape = arg_rule};
    registry.add(schema);
    schema.since = 12;
    schema.attrs.push_back({"select_last_index", AttrKind::i, int64_t{0}});
    registry.add(schema);
    registry.add(KernelDef{
        .op = name,
        .name = "arg_reference",
        .types = kNumbers,
        .create = name == "ArgMax" ? create_plain<plan_arg<true>> : create_plain<plan_arg<false>>});
  }
}

}  // namespace anynpu::ops::reduce
