// SPDX-License-Identifier: Apache-2.0
// SearchSorted and CumExtreme (domain anynpu), which frameworks have and ONNX does not.
//   SearchSorted(rows, values): the place in its sorted row where each value would be put; `right`:
//     behind equal ones. One row serves all values.
//   CumExtreme(x): along an axis the largest (or smallest) element so far and its place; of equal
//     ones the later.
#include "ops/index/search.h"

#include <algorithm>

#include "ops/data_movement/axes.h"
#include "ops/elements/order.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops::index {

namespace {

constexpr DTypeSet kOrdered = kNumbers | DTypeSet{DType::boolean};

Status search_rule(OpContext& context) {
  const Operand &rows = context.inputs[0], &values = context.inputs[1];
  context.outputs[0].dtype = DType::i64;
  context.outputs[0].shape = values.shape;
  context.outputs[0].has_shape = values.has_shape;
  if (!rows.fully_known() || !values.fully_known()) return {};
  if (rows.rank() == 1) return {};
  const bool same = rows.rank() > 0 && rows.rank() == values.rank() &&
                    std::equal(rows.shape.begin(), rows.shape.end() - 1, values.shape.begin());
  if (same) return {};
  return fail(
      Code::shape_mismatch,
      "{}: the rows are {} and the values {}; expected one row, or the same axes before the "
      "last",
      context.label(), to_string(rows.shape), to_string(values.shape));
}

template <typename W>
PlanResult plan_search_of(const OpContext& context) {
  const Shape &rows = context.inputs[0].shape, &values = context.inputs[1].shape;
  const int64_t length = rows.back(), count = element_count(values);
  const bool one_row = rows.size() == 1;
  const int64_t each = one_row || values.empty() ? std::max<int64_t>(count, 1) : values.back();
  const bool right = context.int_attr("right") != 0;
  const auto load_row = load_block<W>(context.inputs[0].dtype);
  const auto load_value = load_block<W>(context.inputs[1].dtype);
  return make_plan([=](const RunArgs& args) {
    auto* out = output_of<int64_t>(args, 0);
    parallel(static_cast<size_t>(count), 256, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t base = each > 0 ? i / each * length : 0;
        W value{}, other{};
        load_value(args.inputs[1], i, 1, &value, 1);
        int64_t low = 0, high = length;
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          load_row(args.inputs[0], (one_row ? 0 : base) + middle, 1, &other, 1);
          const bool behind = right ? !comes_before(value, other) : comes_before(other, value);
          if (behind)
            low = middle + 1;
          else
            high = middle;
        }
        out[i] = low;
      }
    });
  });
}

PlanResult plan_search(const OpContext& context) {
  switch (wide_kind(context.inputs[0].dtype)) {
    case WideKind::float64:
      return plan_search_of<double>(context);
    case WideKind::int64:
      return plan_search_of<int64_t>(context);
    default:
      return plan_search_of<uint64_t>(context);
  }
}

Status extreme_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  if (x.has_shape) {
    ANYNPU_TRY(normal_axis(context, context.int_attr("axis"), x.rank()).status());
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    context.outputs[i].dtype = i == 0 ? x.dtype : DType::i64;
    context.outputs[i].shape = x.shape;
    context.outputs[i].has_shape = x.has_shape;
  }
  return {};
}

template <typename W>
PlanResult plan_extreme_of(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  int64_t outer = 1, step = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= x[static_cast<size_t>(i)];
  for (size_t i = static_cast<size_t>(axis) + 1; i < x.size(); ++i) step *= x[i];
  const int64_t extent = x[static_cast<size_t>(axis)];
  const bool largest = context.int_attr("largest") != 0;
  const auto load = load_block<W>(context.inputs[0].dtype);
  const auto store = store_block<W>(context.inputs[0].dtype);
  return make_plan([=](const RunArgs& args) {
    auto* places = output_of<int64_t>(args, 1);
    for (int64_t row = 0; row < outer * step; ++row) {
      const int64_t base = row / step * extent * step + row % step;
      W best{};
      int64_t place = 0;
      for (int64_t i = 0; i < extent; ++i) {
        W value{};
        load(args.inputs[0], base + i * step, 1, &value, 1);
        const bool stays =
            i > 0 && (is_nan(best) ? !is_nan(value)
                                   : !is_nan(value) && (largest ? value < best : value > best));
        if (!stays) best = value, place = i;
        store(args.outputs[0], base + i * step, &best, 1);
        places[base + i * step] = place;
      }
    }
  });
}

PlanResult plan_extreme(const OpContext& context) {
  switch (wide_kind(context.inputs[0].dtype)) {
    case WideKind::float64:
      return plan_extreme_of<double>(context);
    case WideKind::int64:
      return plan_extreme_of<int64_t>(context);
    default:
      return plan_extreme_of<uint64_t>(context);
  }
}

}  // namespace

void register_search(Registry& registry) {
  registry.add(OpSchema{.name = "SearchSorted",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"rows", "T"}, {"values", "T"}},
                        .outputs = {{"Y", "I"}},
                        .types = {{"T", kOrdered}, {"I", {DType::i64}}},
                        .attrs = {{"right", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general(),
                        .shape = search_rule});
  registry.add(KernelDef{.op = "SearchSorted",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kOrdered,
                         .create = create_plain<plan_search>});
  registry.add(
      OpSchema{.name = "CumExtreme",
               .domain = "anynpu",
               .since = 1,
               .inputs = {{"X", "T"}},
               .outputs = {{"Y", "T"}, {"places", "I"}},
               .types = {{"T", kOrdered}, {"I", {DType::i64}}},
               .attrs = {{"axis", AttrKind::i, int64_t{0}}, {"largest", AttrKind::i, int64_t{1}}},
               .traits = OpTraits::general(),
               .shape = extreme_rule});
  registry.add(KernelDef{.op = "CumExtreme",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kOrdered,
                         .create = create_plain<plan_extreme>});
}

}  // namespace anynpu::ops::index
