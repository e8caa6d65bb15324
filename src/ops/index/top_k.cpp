// SPDX-License-Identifier: Apache-2.0
// TopK: k is an attribute up to opset 9 and an input from opset 10. Equal values keep their order;
// NaN is the largest.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "ops/data_movement/axes.h"
#include "ops/elements/order.h"
#include "ops/elements/wide.h"
#include "ops/index/index.h"
#include "ops/parallel.h"
#include "ops/registry.h"

namespace anynpu::ops::index {

namespace {

Status top_k_rule(OpContext& context) {
  const Operand x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (context.outputs.size() > 1) context.outputs[1].dtype = DType::i64;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  int64_t k = context.int_attr("k");
  if (context.schema->since >= 10) {
    const IntegerList list = integers_of(context.inputs[1]);
    if (!list.known) return {};
    k = list.values.size() == 1 ? list.values[0] : -1;
  }
  Shape shape = x.shape;
  int64_t& extent = shape[static_cast<size_t>(axis)];
  if (k < 0 || (extent != kDynamicDim && k > extent)) {
    return fail(Code::invalid_argument, "{}: k is {}, expected 0 to {}", context.label(), k,
                extent);
  }
  extent = k;
  ANYNPU_TRY(set_output(context, 0, x.dtype, shape));
  return set_output(context, 1, DType::i64, shape);
}

// The places of the first k of `values` by `before`, in order: a list of the best so far, which
// most elements do not enter. Of equal values the earlier stays in front.
template <typename W, typename Before>
void scan_best(const W* values, int64_t extent, int64_t k, int64_t* order, const Before& before) {
  int64_t found = 0;
  W last{};  // of the list, once it is full
  for (int64_t i = 0; i < extent; ++i) {
    const W value = values[i];
    if (found == k && !before(value, last)) continue;
    int64_t at = found < k ? found++ : k - 1;
    for (; at > 0 && before(value, values[order[at - 1]]); --at) order[at] = order[at - 1];
    order[at] = i;
    last = values[order[found - 1]];
  }
}

constexpr int64_t kElementsOfTask = 16384;
constexpr int64_t kShortList = 32;  // a list that is longer costs more than a heap

template <typename W>
PlanResult plan_of(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  int64_t outer = 1, step = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= x[static_cast<size_t>(i)];
  for (size_t i = static_cast<size_t>(axis) + 1; i < x.size(); ++i) step *= x[i];
  const int64_t extent = x[static_cast<size_t>(axis)];
  const int64_t k = context.outputs[0].shape[static_cast<size_t>(axis)];
  const bool largest = context.int_attr("largest") != 0;
  const DType type = context.inputs[0].dtype;
  const size_t size = size_of(type);
  const auto load = load_block<W>(type);
  const auto one_row = [=](const RunArgs& args, int64_t row, W* values, int64_t* order) {
    const int64_t base = row / step * extent * step + row % step;
    load(args.inputs[0], base, step, values, extent);
    if (k <= kShortList) {
      if (k > 0 && largest)
        scan_best(values, extent, k, order, [](W a, W b) { return comes_before(b, a); });
      else if (k > 0)
        scan_best(values, extent, k, order, [](W a, W b) { return comes_before(a, b); });
    } else {
      std::iota(order, order + extent, int64_t{0});
      std::partial_sort(order, order + k, order + extent, [&](int64_t a, int64_t b) {
        if (comes_before(values[a], values[b])) return !largest;
        if (comes_before(values[b], values[a])) return largest;
        return a < b;
      });
    }
    for (int64_t i = 0; i < k; ++i) {
      const int64_t to = row / step * k * step + row % step + i * step;
      std::memcpy(args.outputs[0] + static_cast<size_t>(to) * size,
                  args.inputs[0] + static_cast<size_t>(base + order[i] * step) * size, size);
      if (args.outputs.size() > 1 && args.outputs[1]) output_of<int64_t>(args, 1)[to] = order[i];
    }
  };
  const size_t threads = context.target.threads;
  const auto scratch = static_cast<size_t>(extent) * (sizeof(W) + sizeof(int64_t));
  const int64_t rows = outer * step;
  const int64_t group = std::max<int64_t>(1, kElementsOfTask / std::max<int64_t>(1, extent));
  auto plan = make_plan([=](const RunArgs& args) {
    const auto tasks = static_cast<size_t>((rows + group - 1) / group);
    parallel_slots(threads, tasks, [&](size_t task, size_t slot) {
      auto* values = reinterpret_cast<W*>(args.workspace + slot * scratch);
      auto* order = reinterpret_cast<int64_t*>(values + extent);
      const auto first = static_cast<int64_t>(task) * group;
      for (int64_t row = first; row < std::min(rows, first + group); ++row)
        one_row(args, row, values, order);
    });
  });
  plan->workspace_bytes = threads * scratch;
  return plan;
}

PlanResult plan_top_k(const OpContext& context) {
  switch (wide_kind(context.inputs[0].dtype)) {
    case WideKind::float64:
      return plan_of<double>(context);
    case WideKind::int64:
      return plan_of<int64_t>(context);
    default:
      return plan_of<uint64_t>(context);
  }
}

}  // namespace

void register_top_k(Registry& registry) {
  const AttrSchema axis{"axis", AttrKind::i, int64_t{-1}};
  OpSchema schema{
      .name = "TopK",
      .since = 1,
      .inputs = {{"X", "T"}},
      .outputs = {{"Values", "T"}, {"Indices", "I"}},
      .types = {{"T", kNumbers}},
      .attrs = {axis, {"k", AttrKind::i, {}, true}, {"largest", AttrKind::i, int64_t{1}}},
      .traits = OpTraits::general().with(SizedBy::parameters),
      .shape = top_k_rule};
  registry.add(schema);
  schema.since = 10;
  schema.inputs.push_back({"K", "K"});
  schema.types.push_back({"K", {DType::i64}});
  schema.attrs = {axis, {"largest", AttrKind::i, int64_t{1}}, {"sorted", AttrKind::i, int64_t{1}}};
  registry.add(schema);
  registry.add(KernelDef{.op = "TopK",
                         .name = "reference",
                         .types = kNumbers,
                         .create = create_with_runtime_params<plan_top_k, 2>});
}

}  // namespace anynpu::ops::index
