// SPDX-License-Identifier: Apache-2.0
// ToComplex (domain anynpu): complex numbers from two tensors, which are broadcast: real and
// imaginary part or, with `polar`, absolute value and angle. ComplexCast: to another type where one
// of the two is complex; a real result is the real part. ComplexParts: real
// and imaginary part in a last axis of two.
#include <cmath>
#include <cstring>

#include "ops/broadcast.h"
#include "ops/elements/wide.h"
#include "ops/elementwise/elementwise.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace to_complex {

namespace {

constexpr DTypeSet kParts{DType::f32, DType::f64};

Status rule(OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  context.outputs[0].dtype = a.dtype == DType::f64 ? DType::c128 : DType::c64;
  if (!a.has_shape || !b.has_shape) return {};
  ANYNPU_ASSIGN(context.outputs[0].shape, broadcast(a.shape, b.shape), "{}", context.label());
  context.outputs[0].has_shape = true;
  return {};
}

template <typename T>
PlanResult plan_of(const OpContext& context) {
  const BroadcastLoop loop =
      broadcast_loop(context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape);
  const bool polar = context.int_attr("polar") != 0;
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(loop.outer), 64, [&](size_t begin, size_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        int64_t at_a = 0, at_b = 0;
        loop.offsets(row, at_a, at_b);
        const T* a = input_of<T>(args, 0) + at_a;
        const T* b = input_of<T>(args, 1) + at_b;
        T* out = output_of<T>(args, 0) + 2 * row * loop.inner;
        for (int64_t i = 0; i < loop.inner; ++i) {
          const T x = a[i * loop.inner_a], y = b[i * loop.inner_b];
          out[2 * i] = polar ? x * std::cos(y) : x;
          out[2 * i + 1] = polar ? x * std::sin(y) : y;
        }
      }
    });
  });
}

Status cast_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = static_cast<DType>(context.int_attr("to"));
  context.outputs[0].shape = x.shape;
  context.outputs[0].has_shape = x.has_shape;
  return {};
}

PlanResult plan_cast(const OpContext& context) {
  const DType from = context.inputs[0].dtype, to = context.outputs[0].dtype;
  const auto load = load_block<double>(part_of(from));
  const auto store = store_block<double>(part_of(to));
  if (!load || !store) return no_kernel_for(context);
  const int64_t from_parts = parts_of(from), to_parts = parts_of(to);
  const auto count = static_cast<size_t>(element_count(context.inputs[0].shape));
  return make_plan([=](const RunArgs& args) {
    parallel(count, 1024, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        double parts[2] = {0, 0};
        load(args.inputs[0], i * from_parts, 1, parts, from_parts);
        store(args.outputs[0], i * to_parts, parts, to_parts);
      }
    });
  });
}

Status parts_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = part_of(x.dtype);
  context.outputs[0].shape = x.shape;
  context.outputs[0].shape.push_back(2);
  context.outputs[0].has_shape = x.has_shape;
  return {};
}

PlanResult plan_parts(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const size_t bytes = bytes_of(x.dtype, static_cast<size_t>(element_count(x.shape)));
  return make_plan(
      [=](const RunArgs& args) { std::memcpy(args.outputs[0], args.inputs[0], bytes); });
}

PlanResult plan(const OpContext& context) {
  return context.inputs[0].dtype == DType::f64 ? plan_of<double>(context) : plan_of<float>(context);
}

}  // namespace

}  // namespace to_complex

void register_to_complex(Registry& registry) {
  registry.add(OpSchema{.name = "ToComplex",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"A", "T"}, {"B", "T"}},
                        .outputs = {{"Y", "U"}},
                        .types = {{"T", to_complex::kParts}},
                        .attrs = {{"polar", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general(),
                        .shape = to_complex::rule});
  registry.add(KernelDef{.op = "ToComplex",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = to_complex::kParts,
                         .create = create_plain<to_complex::plan>});
  registry.add(OpSchema{.name = "ComplexCast",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "U"}},
                        .types = {{"T", kValues}},
                        .attrs = {{"to", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general(),
                        .shape = to_complex::cast_rule});
  registry.add(KernelDef{.op = "ComplexCast",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kValues,
                         .create = create_plain<to_complex::plan_cast>});
  registry.add(OpSchema{.name = "ComplexParts",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "U"}},
                        .types = {{"T", kComplex}},
                        .traits = OpTraits::general(),
                        .shape = to_complex::parts_rule});
  registry.add(KernelDef{.op = "ComplexParts",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kComplex,
                         .create = create_plain<to_complex::plan_parts>});
}

}  // namespace anynpu::ops::elementwise
