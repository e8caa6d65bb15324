// SPDX-License-Identifier: Apache-2.0
// Gather, GatherElements, GatherND.
#include <cstring>

#include "ops/data_movement/axes.h"
#include "ops/families.h"
#include "ops/index/index.h"
#include "ops/index/search.h"
#include "ops/parallel.h"
#include "ops/registry.h"

namespace anynpu::ops::index {

namespace {

constexpr size_t kBytesOfThread = 32 << 10;  // that are worth a thread

Status gather_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &indices = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape || !indices.has_shape) return {};
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  Shape shape = x.shape;
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indices.shape.begin(), indices.shape.end());
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_gather(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  int64_t outer = 1;
  size_t inner = size_of(context.inputs[0].dtype);
  for (int64_t i = 0; i < axis; ++i) outer *= x[static_cast<size_t>(i)];
  for (size_t i = static_cast<size_t>(axis) + 1; i < x.size(); ++i)
    inner *= static_cast<size_t>(x[i]);
  const int64_t extent = x[static_cast<size_t>(axis)];
  const int64_t picked = element_count(context.inputs[1].shape);
  const DType type = context.inputs[1].dtype;
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    for (int64_t i = 0; i < picked; ++i) {
      const int64_t raw = index_at(type, args.inputs[1], i);
      if (raw < -extent || raw >= extent) return index_failure(label, raw, extent);
    }
    const auto least = static_cast<size_t>(1 + kBytesOfThread / (inner + 1));
    parallel(static_cast<size_t>(outer * picked), least, [&](size_t begin, size_t end) {
      std::byte* y = args.outputs[0] + begin * inner;
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i, y += inner) {
        const int64_t raw = index_at(type, args.inputs[1], i % picked);
        const int64_t at = i / picked * extent + (raw < 0 ? raw + extent : raw);
        const std::byte* from = args.inputs[0] + static_cast<size_t>(at) * inner;
        if (inner == sizeof(uint32_t))
          std::memcpy(y, from, sizeof(uint32_t));
        else if (inner > 0)
          std::memcpy(y, from, inner);
      }
    });
    return {};
  });
}

Status elements_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &indices = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape || !indices.has_shape) return {};
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  bool fits = x.rank() == indices.rank();
  for (size_t i = 0; fits && i < x.shape.size(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices.shape[i] <= x.shape[i] ||
           x.shape[i] == kDynamicDim;
  }
  if (!fits) {
    return fail(Code::shape_mismatch, "{}: indices {} do not lie within data {} beside axis {}",
                context.label(), to_string(indices.shape), to_string(x.shape), axis);
  }
  return set_output(context, 0, x.dtype, indices.shape);
}

// A row of GatherElements: y[i] = x[index i * along + i * step], an element being U; false where an
// index lies outside, which `outside` receives.
template <typename U, typename I>
bool gather_row(const std::byte* x, const std::byte* indices, std::byte* y, int64_t count,
                int64_t extent, int64_t along, int64_t step, int64_t& outside) {
  const auto* index = reinterpret_cast<const I*>(indices);
  const auto* from = reinterpret_cast<const U*>(x);
  auto* to = reinterpret_cast<U*>(y);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t raw = index[i], at = raw < 0 ? raw + extent : raw;
    if (at < 0 || at >= extent) return outside = raw, false;
    to[i] = from[at * along + i * step];
  }
  return true;
}

struct Element16 {
  uint64_t halves[2];
};
using GatherRow = decltype(&gather_row<uint8_t, int64_t>);

template <typename I>
GatherRow gather_row_of(size_t size) {
  switch (size) {
    case 1:
      return gather_row<uint8_t, I>;
    case 2:
      return gather_row<uint16_t, I>;
    case 4:
      return gather_row<uint32_t, I>;
    case 8:
      return gather_row<uint64_t, I>;
    default:
      return gather_row<Element16, I>;
  }
}

PlanResult plan_elements(const OpContext& context) {
  Shape x = context.inputs[0].shape, out = context.outputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const auto strides = strides_of(x);
  const size_t size = size_of(context.inputs[0].dtype);
  const bool narrow = context.inputs[1].dtype == DType::i32;
  const GatherRow row = narrow ? gather_row_of<int32_t>(size) : gather_row_of<int64_t>(size);
  const size_t index_size = size_of(context.inputs[1].dtype);
  const size_t last = out.size() - 1;
  const int64_t step = static_cast<int64_t>(last) == axis ? 0 : 1;
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    const int64_t columns = out[last], extent = x[static_cast<size_t>(axis)];
    const int64_t rows = columns == 0 ? 0 : element_count(out) / columns;
    for (int64_t r = 0; r < rows; ++r) {
      int64_t offset = 0, rest = r, outside = 0;
      for (size_t d = last; d-- > 0; rest /= out[d]) {
        if (static_cast<int64_t>(d) != axis) offset += rest % out[d] * strides[d];
      }
      const auto begin = static_cast<size_t>(r * columns);
      if (!row(args.inputs[0] + static_cast<size_t>(offset) * size,
               args.inputs[1] + begin * index_size, args.outputs[0] + begin * size, columns, extent,
               strides[static_cast<size_t>(axis)], step, outside))
        return index_failure(label, outside, extent);
    }
    return {};
  });
}

Status nd_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &indices = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape || !indices.has_shape) return {};
  const int64_t batch = context.int_attr("batch_dims");
  const int64_t depth = indices.rank() > 0 ? indices.shape.back() : 0;
  if (depth == kDynamicDim) return {};  // it decides the rank
  bool fits = batch >= 0 && indices.rank() > batch && x.rank() >= batch + depth && depth >= 1;
  for (size_t i = 0; fits && i < static_cast<size_t>(batch); ++i) {
    fits = x.shape[i] == indices.shape[i] || x.shape[i] == kDynamicDim ||
           indices.shape[i] == kDynamicDim;
  }
  if (!fits) {
    return fail(Code::shape_mismatch, "{}: indices {} with batch_dims {} do not fit data {}",
                context.label(), to_string(indices.shape), batch, to_string(x.shape));
  }
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), x.shape.begin() + batch + depth, x.shape.end());
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_nd(const OpContext& context) {
  const Shape x = context.inputs[0].shape, indices = context.inputs[1].shape;
  const auto batch = static_cast<size_t>(context.int_attr("batch_dims"));
  const auto depth = static_cast<size_t>(indices.back());
  const auto strides = strides_of(x);
  int64_t batches = 1;
  for (size_t i = 0; i < batch; ++i) batches *= x[i];
  const int64_t tuples = element_count(Shape(indices.begin(), indices.end() - 1));
  const int64_t per_batch = batches == 0 ? 0 : tuples / batches;
  const int64_t batch_stride = batch == 0 ? 0 : strides[batch - 1];
  const auto inner =
      static_cast<size_t>(strides[batch + depth - 1]) * size_of(context.inputs[0].dtype);
  const size_t size = size_of(context.inputs[0].dtype);
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t offset = t / per_batch * batch_stride;
      for (size_t d = 0; d < depth; ++d) {
        const int64_t extent = x[batch + d];
        const int64_t raw =
            input_of<int64_t>(args, 1)[t * static_cast<int64_t>(depth) + static_cast<int64_t>(d)];
        const int64_t at = raw < 0 ? raw + extent : raw;
        if (at < 0 || at >= extent) return index_failure(label, raw, extent);
        offset += at * strides[batch + d];
      }
      std::memcpy(args.outputs[0] + static_cast<size_t>(t) * inner,
                  args.inputs[0] + static_cast<size_t>(offset) * size, inner);
    }
    return {};
  });
}

}  // namespace

void register_gather(Registry& registry) {
  OpSchema schema{.name = "Gather",
                  .since = 1,
                  .inputs = {{"data", "T"}, {"indices", "I"}},
                  .outputs = {{"output", "T"}},
                  .types = {{"T", kAnyFixed}, {"I", kIndices}},
                  .attrs = {{"axis", AttrKind::i, int64_t{0}}},
                  .traits = OpTraits::data_movement(),
                  .shape = gather_rule};
  registry.add(schema);
  schema.name = "GatherElements";
  schema.traits = OpTraits::data_movement().with(PrecisionClass::black);
  schema.since = 11;
  schema.shape = elements_rule;
  registry.add(schema);
  schema.name = "GatherND";
  schema.types[1].types = {DType::i64};
  schema.attrs = {{"batch_dims", AttrKind::i, int64_t{0}}};
  schema.shape = nd_rule;
  registry.add(schema);
  const auto add = [&](std::string_view op, auto create) {
    registry.add(KernelDef{.op = op, .name = "reference", .types = kAnyFixed, .create = create});
  };
  add("Gather", create_plain<plan_gather>);
  add("GatherElements", create_plain<plan_elements>);
  add("GatherND", create_plain<plan_nd>);
}

void register_family(Registry& registry) {
  register_gather(registry);
  register_scatter(registry);
  register_tensor_scatter(registry);
  register_select(registry);
  register_top_k(registry);
  register_one_hot(registry);
  register_unique(registry);
  register_route(registry);
  register_search(registry);
}

}  // namespace anynpu::ops::index
