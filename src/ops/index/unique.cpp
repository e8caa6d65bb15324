// SPDX-License-Identifier: Apache-2.0
// Unique: the distinct elements, or slices along an axis, with indices and counts. Their number
// depends on values: the model states it, and another number fails the run.
// UniqueConsecutive (domain anynpu): only equal neighbours become one; NaN equals nothing.
#include <algorithm>
#include <cstring>

#include "ops/data_movement/axes.h"
#include "ops/elements/order.h"
#include "ops/elements/wide.h"
#include "ops/index/index.h"
#include "ops/registry.h"

namespace anynpu::ops::index {

namespace {

// Complex elements are two of their parts: they are ordered by the first, then by the second.
struct Slices {
  int64_t count = 0, outer = 1, inner = 1;  // slice i: elements (o, i, k)
  int64_t at(int64_t slice, int64_t k) const {
    return (k / inner * count + slice) * inner + k % inner;
  }
  int64_t length() const { return outer * inner; }
};

struct Found {
  std::vector<int64_t> first, inverse, counts;  // first: the slice that stands for each group
};

Result<Slices> slices_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const int64_t parts = parts_of(x.dtype);
  if (!context.has_attr("axis")) return Slices{element_count(x.shape), 1, parts};
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  Slices s{x.shape[static_cast<size_t>(axis)], 1, parts};
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != axis) (i < axis ? s.outer : s.inner) *= x.shape[static_cast<size_t>(i)];
  }
  return s;
}

template <typename W>
Found neighbours(const Slices& s, const std::vector<W>& values) {
  const auto equal = [&](int64_t a, int64_t b) {
    for (int64_t k = 0; k < s.length(); ++k) {
      if (values[static_cast<size_t>(s.at(a, k))] != values[static_cast<size_t>(s.at(b, k))])
        return false;
    }
    return true;
  };
  Found found;
  for (int64_t i = 0; i < s.count; ++i) {
    if (i == 0 || !equal(i - 1, i)) {
      found.first.push_back(i);
      found.counts.push_back(0);
    }
    ++found.counts.back();
    found.inverse.push_back(static_cast<int64_t>(found.first.size()) - 1);
  }
  return found;
}

template <typename W>
Result<Found> find_as(const OpContext& context) {
  ANYNPU_ASSIGN(const Slices s, slices_of(context));
  const Operand& x = context.inputs[0];
  const int64_t total = s.count * s.length();
  std::vector<W> values(static_cast<size_t>(total));
  load_block<W>(part_of(x.dtype))(x.constant.data(), 0, 1, values.data(), total);
  if (context.schema->name == "UniqueConsecutive") return neighbours(s, values);
  const auto compare = [&](int64_t a, int64_t b) {  // -1, 0, 1
    for (int64_t k = 0; k < s.length(); ++k) {
      const W p = values[static_cast<size_t>(s.at(a, k))],
              q = values[static_cast<size_t>(s.at(b, k))];
      if (comes_before(p, q)) return -1;
      if (comes_before(q, p)) return 1;
    }
    return 0;
  };
  std::vector<int64_t> order(static_cast<size_t>(s.count));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  Found found;
  std::vector<int64_t> group(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      found.first.push_back(order[i]);  // equal slices lie in their own order: this is the first
      found.counts.push_back(0);
    }
    ++found.counts.back();
    group[static_cast<size_t>(order[i])] = static_cast<int64_t>(found.first.size()) - 1;
  }
  std::vector<size_t> rank(found.first.size());
  for (size_t i = 0; i < rank.size(); ++i) rank[i] = i;
  if (context.int_attr("sorted") == 0) {
    std::sort(rank.begin(), rank.end(),
              [&](size_t a, size_t b) { return found.first[a] < found.first[b]; });
  }
  Found out;
  std::vector<int64_t> place(rank.size());
  for (size_t i = 0; i < rank.size(); ++i) {
    place[rank[i]] = static_cast<int64_t>(i);
    out.first.push_back(found.first[rank[i]]);
    out.counts.push_back(found.counts[rank[i]]);
  }
  for (int64_t g : group) out.inverse.push_back(place[static_cast<size_t>(g)]);
  return out;
}

Result<Found> find(const OpContext& context) {
  switch (wide_kind(part_of(context.inputs[0].dtype))) {
    case WideKind::float64:
      return find_as<double>(context);
    case WideKind::int64:
      return find_as<int64_t>(context);
    default:
      return find_as<uint64_t>(context);
  }
}

Status unique_rule(OpContext& context) {
  const Operand x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  for (size_t i = 1; i < context.outputs.size(); ++i) context.outputs[i].dtype = DType::i64;
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Slices s, slices_of(context));
  if (!x.is_constant) return {};
  ANYNPU_ASSIGN(const Found found, find(context));
  const auto groups = static_cast<int64_t>(found.first.size());
  Shape shape = {groups};
  if (context.has_attr("axis")) {
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
    shape = x.shape;
    shape[static_cast<size_t>(axis)] = groups;
  }
  ANYNPU_TRY(set_output(context, 1, DType::i64, {groups}));
  ANYNPU_TRY(set_output(context, 2, DType::i64, {s.count}));
  ANYNPU_TRY(set_output(context, 3, DType::i64, {groups}));
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_unique(const OpContext& context) {
  ANYNPU_ASSIGN(const Slices s, slices_of(context));
  ANYNPU_ASSIGN(Found found, find(context));
  const size_t size = size_of(part_of(context.inputs[0].dtype));
  return make_plan([=](const RunArgs& args) {
    Slices to = s;
    to.count = static_cast<int64_t>(found.first.size());
    for (int64_t i = 0; i < to.count; ++i) {
      for (int64_t k = 0; k < s.length(); ++k) {
        std::memcpy(args.outputs[0] + static_cast<size_t>(to.at(i, k)) * size,
                    args.inputs[0] +
                        static_cast<size_t>(s.at(found.first[static_cast<size_t>(i)], k)) * size,
                    size);
      }
    }
    const std::vector<int64_t>* lists[] = {&found.first, &found.inverse, &found.counts};
    for (size_t i = 1; i < args.outputs.size(); ++i) {
      if (args.outputs[i])
        std::copy(lists[i - 1]->begin(), lists[i - 1]->end(), output_of<int64_t>(args, i));
    }
  });
}

}  // namespace

void register_unique(Registry& registry) {
  const auto optional = [](std::string_view name) {
    return FormalOperand{name, "I", Presence::optional};
  };
  OpSchema schema{
      .name = "Unique",
      .since = 11,
      .inputs = {{"X", "T"}},
      .outputs = {{"Y", "T"}, optional("indices"), optional("inverse_indices"), optional("counts")},
      .types = {{"T", kValues}},
      .attrs = {{"axis", AttrKind::i}, {"sorted", AttrKind::i, int64_t{1}}},
      .traits = OpTraits::general().with(Rounding::exact).with(SizedBy::data).with(Strings::moved),
      .shape = unique_rule};
  registry.add(schema);
  schema.name = "UniqueConsecutive";
  schema.domain = "anynpu";
  schema.since = 1;
  schema.traits.strings = Strings::refused;
  schema.attrs.pop_back();
  registry.add(schema);
  registry.add(KernelDef{.op = "UniqueConsecutive",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kValues,
                         .create = create_with_runtime_params<plan_unique, 1>});
  registry.add(KernelDef{.op = "Unique",
                         .name = "reference",
                         .types = kValues,
                         .create = create_with_runtime_params<plan_unique, 1>});
}

}  // namespace anynpu::ops::index
