// SPDX-License-Identifier: Apache-2.0
// TensorScatter: a run of `update` along one axis is written into the cache, at an index of its own
// for each sample of the batch. The result may use the memory of the cache.
#include <algorithm>
#include <cstring>

#include "ops/data_movement/axes.h"
#include "ops/index/index.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/unpacked.h"

namespace anynpu::ops::index {

namespace {

Status scatter_rule(OpContext& context) {
  const Operand &cache = context.inputs[0], &update = context.inputs[1],
                &places = context.inputs[2];
  context.outputs[0].dtype = cache.dtype;
  const std::string mode = context.string_attr("mode");
  if (mode != "linear" && mode != "circular") {
    return fail(Code::invalid_argument, "{}: mode is '{}', expected linear or circular",
                context.label(), mode);
  }
  if (!cache.has_shape) return {};
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), cache.rank()));
  if (axis == 0) {
    return fail(Code::invalid_argument, "{}: axis {} of {} is the batch, expected another",
                context.label(), context.int_attr("axis"), to_string(cache.shape));
  }
  if (cache.fully_known() && update.fully_known()) {
    bool fits = cache.rank() == update.rank();
    for (size_t i = 0; fits && i < cache.shape.size(); ++i) {
      const int64_t have = update.shape[i], room = cache.shape[i];
      fits = static_cast<int64_t>(i) == axis ? have <= room : have == room;
    }
    if (places.present && places.fully_known()) fits &= places.shape == Shape{cache.shape[0]};
    if (!fits) {
      return fail(Code::shape_mismatch, "{}: update {}{} does not fit the cache {} along axis {}",
                  context.label(), to_string(update.shape),
                  places.present ? " with write_indices " + to_string(places.shape) : "",
                  to_string(cache.shape), axis);
    }
  }
  return set_output(context, 0, cache.dtype, cache.shape);
}

PlanResult plan_scatter(const OpContext& context) {
  const Shape &cache = context.inputs[0].shape, &update = context.inputs[1].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const int64_t room = cache[static_cast<size_t>(axis)], run = update[static_cast<size_t>(axis)];
  const int64_t batch = cache[0];
  const int64_t rows = element_count(Shape(cache.begin() + 1, cache.begin() + axis));
  const size_t size =
      size_of(context.inputs[0].dtype) *
      static_cast<size_t>(element_count(Shape(cache.begin() + axis + 1, cache.end())));
  const bool circular = context.string_attr("mode") == "circular", placed = context.has_input(2);
  auto plan = make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    const int64_t* places = placed ? input_of<int64_t>(args, 2) : nullptr;
    for (int64_t b = 0; places && !circular && b < batch; ++b) {
      if (places[b] < 0 || places[b] > room - run) {
        return fail(Code::invalid_argument,
                    "{}: write_indices[{}] is {}, expected 0 to {}: {} steps go into {}", label, b,
                    places[b], room - run, run, room);
      }
    }
    if (size == 0 || room == 0) return {};

    parallel(static_cast<size_t>(batch * rows), 1, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        std::byte* y = args.outputs[0] + row * static_cast<size_t>(room) * size;
        const std::byte* old = args.inputs[0] + row * static_cast<size_t>(room) * size;
        const std::byte* fresh = args.inputs[1] + row * static_cast<size_t>(run) * size;
        if (y != old) std::memcpy(y, old, static_cast<size_t>(room) * size);
        int64_t to = places ? places[static_cast<int64_t>(row) / rows] % room : 0;
        if (to < 0) to += room;
        if (run == 0) continue;
        const auto first = static_cast<size_t>(std::min(run, room - to));
        std::memcpy(y + static_cast<size_t>(to) * size, fresh, first * size);
        std::memcpy(y, fresh + first * size, (static_cast<size_t>(run) - first) * size);
      }
    });
    return {};
  });
  plan->in_place_input = 0;
  return plan;
}

}  // namespace

void register_tensor_scatter(Registry& registry) {
  registry.add(OpSchema{
      .name = "TensorScatter",
      .since = 24,
      .inputs = {{"past_cache", "T"}, {"update", "T"}, {"write_indices", "I", Presence::optional}},
      .outputs = {{"present_cache", "T"}},
      .types = {{"T", kAnyPacked}, {"I", {DType::i64}}},
      .attrs = {{"axis", AttrKind::i, int64_t{-2}},
                {"mode", AttrKind::s, std::string_view("linear")}},
      .traits = OpTraits::general(),
      .shape = scatter_rule});
  registry.add(KernelDef{.op = "TensorScatter",
                         .name = "reference",
                         .types = kAnyPacked,
                         .create = create_plain<plan_unpacked<plan_scatter>>});
}

}  // namespace anynpu::ops::index
