// SPDX-License-Identifier: Apache-2.0
// Scatter, ScatterElements, ScatterND, with reductions add, mul, min and max. Updates are applied
// in order, so that equal indices give the same bytes every time.
#include <algorithm>
#include <cstring>
#include <span>

#include "ops/data_movement/axes.h"
#include "ops/elements/order.h"
#include "ops/index/index.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops::index {

namespace {

// place(y, x): one update of element y by x.
using Combine = void (*)(std::byte* y, const std::byte* x);

template <typename T, int kind>
void combine(std::byte* y, const std::byte* x) {
  T a, b;
  std::memcpy(&a, y, sizeof a);
  std::memcpy(&b, x, sizeof b);
  const auto p = Element<T>::load(a), q = Element<T>::load(b);
  using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, decltype(p + q)>;
  T out;
  if constexpr (kind == 0)
    out = Element<T>::store(static_cast<Wide>(p) + static_cast<Wide>(q));
  else if constexpr (kind == 1)
    out = Element<T>::store(static_cast<Wide>(p) * static_cast<Wide>(q));
  else if constexpr (kind == 2)
    out = Element<T>::store(smaller(p, q));
  else
    out = Element<T>::store(larger(p, q));
  std::memcpy(y, &out, sizeof out);
}

// Null for "none": the bytes are copied.
Result<Combine> combine_of(const OpContext& context) {
  const std::string how = context.string_attr("reduction");
  if (how.empty() || how == "none") return Combine{nullptr};
  Combine found = nullptr;
  visit_numbers(context.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    if (how == "add") found = combine<T, 0>;
    if (how == "mul") found = combine<T, 1>;
    if (how == "min") found = combine<T, 2>;
    if (how == "max") found = combine<T, 3>;
  });
  if (found) return found;
  return fail(Code::invalid_argument,
              "{}: reduction '{}' of {}, expected none, add, mul, min or max", context.label(), how,
              name_of(context.inputs[0].dtype));
}

Status scatter_elements_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &indices = context.inputs[1], &updates = context.inputs[2];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  ANYNPU_TRY(normal_axis(context, context.int_attr("axis"), x.rank()).status());
  ANYNPU_TRY(combine_of(context).status());
  if (x.fully_known() && indices.fully_known() && updates.fully_known()) {
    bool fits = indices.shape == updates.shape && indices.rank() == x.rank();
    ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
    for (size_t i = 0; fits && i < x.shape.size(); ++i) {
      fits = static_cast<int64_t>(i) == axis || indices.shape[i] <= x.shape[i];
    }
    if (!fits) {
      return fail(Code::shape_mismatch, "{}: indices {} and updates {} do not fit data {}",
                  context.label(), to_string(indices.shape), to_string(updates.shape),
                  to_string(x.shape));
    }
  }
  return set_output(context, 0, x.dtype, x.shape);
}

// Updates along the axis in order, for elements that lie side by side behind it: equal indices can
// only meet among updates of the same place, so that places may be shared among threads.
struct ScatterLines {
  Shape x, updates;
  size_t axis = 0;
  size_t size = 1;  // of an element
  DType index_type = DType::i64;
  Combine update = nullptr;
  bool adds_floats = false;
  std::vector<int64_t> outer, inner;  // offsets in x of the places before and behind the axis
  int64_t step = 1;                   // in x along the axis

  int64_t along() const { return updates[axis]; }

  void run(const RunArgs& args) const {
    const auto behind = static_cast<int64_t>(inner.size());
    // Whole rows of the cache for each thread.
    const int64_t piece = std::max<int64_t>(16, 16384 / std::max<int64_t>(1, along()));
    const int64_t pieces = (behind + piece - 1) / piece;
    parallel_tasks(outer.size() * static_cast<size_t>(pieces), [&](size_t task) {
      const auto o = static_cast<int64_t>(task) / pieces;
      const int64_t first = static_cast<int64_t>(task) % pieces * piece;
      const int64_t last = std::min(behind, first + piece);
      for (int64_t a = 0; a < along(); ++a) row(args, o, a, first, last);
    });
  }

  void row(const RunArgs& args, int64_t o, int64_t a, int64_t first, int64_t last) const {
    const auto behind = static_cast<int64_t>(inner.size());
    const int64_t from = (o * along() + a) * behind, base = outer[static_cast<size_t>(o)];
    for (int64_t i = first; i < last; ++i) {
      const int64_t raw = index_at(index_type, args.inputs[1], from + i);
      const int64_t at = raw < 0 ? raw + x[axis] : raw;
      const auto to = static_cast<size_t>(base + at * step + inner[static_cast<size_t>(i)]);
      const auto source = static_cast<size_t>(from + i);
      if (adds_floats) {
        output_of<float>(args, 0)[to] += input_of<float>(args, 2)[source];
        continue;
      }
      std::byte* y = args.outputs[0] + to * size;
      const std::byte* value = args.inputs[2] + source * size;
      if (update)
        update(y, value);
      else
        std::memcpy(y, value, size);
    }
  }
};

// Offsets in `strides` of the places of `extents`, in order.
std::vector<int64_t> offsets_of(std::span<const int64_t> extents,
                                std::span<const int64_t> strides) {
  std::vector<int64_t> list = {0};
  for (size_t d = 0; d < extents.size(); ++d) {
    std::vector<int64_t> more;
    for (const int64_t offset : list) {
      for (int64_t i = 0; i < extents[d]; ++i) more.push_back(offset + i * strides[d]);
    }
    list = std::move(more);
  }
  return list;
}

PlanResult plan_scatter_elements(const OpContext& context) {
  ScatterLines lines;
  lines.x = context.inputs[0].shape, lines.updates = context.inputs[1].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  ANYNPU_ASSIGN(lines.update, combine_of(context));
  lines.axis = static_cast<size_t>(axis);
  lines.size = size_of(context.inputs[0].dtype);
  lines.index_type = context.inputs[1].dtype;
  lines.adds_floats =
      context.inputs[0].dtype == DType::f32 && context.string_attr("reduction") == "add";
  const auto strides = strides_of(lines.x);
  const std::span<const int64_t> extents = lines.updates, steps = strides;
  lines.outer = offsets_of(extents.first(lines.axis), steps.first(lines.axis));
  lines.inner = offsets_of(extents.subspan(lines.axis + 1), steps.subspan(lines.axis + 1));
  lines.step = strides[lines.axis];
  const int64_t extent = lines.x[lines.axis], count = element_count(lines.updates);
  const auto bytes = static_cast<size_t>(element_count(lines.x)) * lines.size;
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    if (bytes > 0) std::memcpy(args.outputs[0], args.inputs[0], bytes);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t raw = index_at(lines.index_type, args.inputs[1], i);
      if (raw < -extent || raw >= extent) return index_failure(label, raw, extent);
    }
    if (count > 0) lines.run(args);
    return {};
  });
}

Status scatter_nd_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &indices = context.inputs[1], &updates = context.inputs[2];
  context.outputs[0].dtype = x.dtype;
  ANYNPU_TRY(combine_of(context).status());
  if (!x.has_shape) return {};
  if (x.fully_known() && indices.fully_known() && updates.fully_known()) {
    const int64_t depth = indices.rank() > 0 ? indices.shape.back() : 0;
    bool fits = depth >= 1 && depth <= x.rank();
    if (fits) {
      Shape wanted(indices.shape.begin(), indices.shape.end() - 1);
      wanted.insert(wanted.end(), x.shape.begin() + depth, x.shape.end());
      fits = wanted == updates.shape;
    }
    if (!fits) {
      return fail(Code::shape_mismatch, "{}: indices {} and updates {} do not fit data {}",
                  context.label(), to_string(indices.shape), to_string(updates.shape),
                  to_string(x.shape));
    }
  }
  return set_output(context, 0, x.dtype, x.shape);
}

PlanResult plan_scatter_nd(const OpContext& context) {
  const Shape x = context.inputs[0].shape, indices = context.inputs[1].shape;
  ANYNPU_ASSIGN(const Combine update, combine_of(context));
  const auto depth = static_cast<size_t>(indices.back());
  const auto strides = strides_of(x);
  const int64_t tuples = element_count(Shape(indices.begin(), indices.end() - 1));
  const int64_t run = strides[depth - 1];
  const size_t size = size_of(context.inputs[0].dtype);
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    const auto bytes = static_cast<size_t>(element_count(x)) * size;
    if (bytes > 0) std::memcpy(args.outputs[0], args.inputs[0], bytes);
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t offset = 0;
      for (size_t d = 0; d < depth; ++d) {
        const int64_t raw =
            input_of<int64_t>(args, 1)[t * static_cast<int64_t>(depth) + static_cast<int64_t>(d)];
        const int64_t at = raw < 0 ? raw + x[d] : raw;
        if (at < 0 || at >= x[d]) return index_failure(label, raw, x[d]);
        offset += at * strides[d];
      }
      std::byte* y = args.outputs[0] + static_cast<size_t>(offset) * size;
      const std::byte* value = args.inputs[2] + static_cast<size_t>(t * run) * size;
      const size_t length = static_cast<size_t>(run) * size;
      if (!update && length > 0) std::memcpy(y, value, length);
      for (size_t i = 0; update && i < length; i += size) update(y + i, value + i);
    }
    return {};
  });
}

}  // namespace

void register_scatter(Registry& registry) {
  const AttrSchema axis{"axis", AttrKind::i, int64_t{0}};
  const AttrSchema reduction{"reduction", AttrKind::s, std::string_view("none")};
  OpSchema schema{.name = "Scatter",
                  .since = 9,
                  .inputs = {{"data", "T"}, {"indices", "I"}, {"updates", "T"}},
                  .outputs = {{"output", "T"}},
                  .types = {{"T", kAnyFixed}, {"I", kIndices}},
                  .attrs = {axis},
                  .traits = OpTraits::general().with(Rounding::exact).with(Strings::moved),
                  .shape = scatter_elements_rule};
  registry.add(schema);
  schema.name = "ScatterElements";
  schema.traits = OpTraits::data_movement().with(PrecisionClass::black);
  schema.since = 11;
  registry.add(schema);
  schema.since = 16;
  schema.attrs = {axis, reduction};
  registry.add(schema);
  schema.name = "ScatterND";
  schema.since = 11;
  schema.types[1].types = {DType::i64};
  schema.attrs = {};
  schema.shape = scatter_nd_rule;
  registry.add(schema);
  schema.since = 16;
  schema.attrs = {reduction};
  registry.add(schema);
  const auto add = [&](std::string_view op, auto create) {
    registry.add(KernelDef{.op = op, .name = "reference", .types = kAnyFixed, .create = create});
  };
  add("Scatter", create_plain<plan_scatter_elements>);
  add("ScatterElements", create_plain<plan_scatter_elements>);
  add("ScatterND", create_plain<plan_scatter_nd>);
}

}  // namespace anynpu::ops::index
