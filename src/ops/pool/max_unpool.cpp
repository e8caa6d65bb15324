// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: each value goes back to where the maximum was.
#include <cstring>
#include <limits>

#include "ops/data_movement/axes.h"
#include "ops/elements/index_value.h"
#include "ops/pool/pool.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::pool {

namespace {

Status unpool_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &indices = context.inputs[1];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known() || !indices.fully_known()) return {};
  const auto kernel = context.ints_attr("kernel_shape");
  const size_t dims = x.shape.size() >= 3 ? x.shape.size() - 2 : 0;
  auto strides = context.ints_attr("strides"), pads = context.ints_attr("pads");
  if (strides.empty()) strides.assign(dims, 1);
  if (pads.empty()) pads.assign(2 * dims, 0);
  if (dims == 0 || indices.shape != x.shape || kernel.size() != dims || strides.size() != dims ||
      pads.size() != 2 * dims) {
    return fail(Code::shape_mismatch,
                "{}: input {} with indices {} does not fit kernel_shape, strides and pads",
                context.label(), to_string(x.shape), to_string(indices.shape));
  }
  for (const auto& numbers : {kernel, strides, pads}) {
    for (const int64_t number : numbers) {
      if (number >= 0 && number <= std::numeric_limits<int32_t>::max()) continue;
      return fail(Code::invalid_argument,
                  "{}: {} among kernel_shape, strides and pads, expected 0 to {}", context.label(),
                  number, std::numeric_limits<int32_t>::max());
    }
  }
  Shape shape = {x.shape[0], x.shape[1]};
  if (context.has_input(2)) {
    const IntegerList wanted = integers_of(context.inputs[2]);
    if (!wanted.known) return {};
    shape = wanted.values;
  } else {
    for (size_t i = 0; i < dims; ++i) {
      shape.push_back((x.shape[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + dims]);
    }
  }
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_unpool(const OpContext& context) {
  const int64_t count = element_count(context.inputs[0].shape),
                places = element_count(context.outputs[0].shape);
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  // Indices refer to the output that the kernel, strides and pads give; output_shape may be larger.
  Shape full = out;
  if (context.has_input(2)) {
    const auto kernel = context.ints_attr("kernel_shape");
    auto strides = context.ints_attr("strides"), pads = context.ints_attr("pads");
    const size_t dims = kernel.size();
    if (strides.empty()) strides.assign(dims, 1);
    if (pads.empty()) pads.assign(2 * dims, 0);
    for (size_t i = 0; i < dims; ++i)
      full[i + 2] = (x[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + dims];
  }
  const size_t size = size_of(context.inputs[0].dtype);
  const bool same = full == out;  // an index is the place itself
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    std::memset(args.outputs[0], 0, static_cast<size_t>(places) * size);
    const auto strides = strides_of(out);
    const int64_t limit = element_count(full);
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = input_of<int64_t>(args, 1)[i], to = 0;
      if (index < 0 || index >= limit) return index_failure(label, index, limit);
      if (same) to = index;
      for (size_t d = same ? 0 : full.size(); d-- > 0;) {
        if (index % full[d] >= out[d]) return index_failure(label, index % full[d], out[d]);
        to += index % full[d] * strides[d];
        index /= full[d];
      }
      std::byte* y = args.outputs[0] + static_cast<size_t>(to) * size;
      const std::byte* value = args.inputs[0] + static_cast<size_t>(i) * size;
      if (size == sizeof(float))  // a fixed length is one instruction
        std::memcpy(y, value, sizeof(float));
      else
        std::memcpy(y, value, size);
    }
    return {};
  });
}

}  // namespace

void register_max_unpool(Registry& registry) {
  registry.add(
      OpSchema{.name = "MaxUnpool",
               .since = 9,
               .inputs = {{"X", "T"}, {"I", "I"}, {"output_shape", "I", Presence::optional}},
               .outputs = {{"output", "T"}},
               .types = {{"T", kFloats}, {"I", {DType::i64}}},
               .attrs = {{"kernel_shape", AttrKind::ints, {}, true},
                         {"pads", AttrKind::ints},
                         {"strides", AttrKind::ints}},
               .traits = OpTraits::general().with(SizedBy::parameters),
               .shape = unpool_rule});
  registry.add(KernelDef{.op = "MaxUnpool",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_with_runtime_params<plan_unpool, 4>});
}

}  // namespace anynpu::ops::pool
