// SPDX-License-Identifier: Apache-2.0
// OptionalHasElement and OptionalGetElement where the optional is a tensor or left out: known when
// the model is compiled.
#include <cstring>

#include "ops/control_flow/control_flow.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::control_flow {

namespace {

Status has_rule(OpContext& context) { return set_output(context, 0, DType::boolean, {}); }

PlanResult plan_has(const OpContext& context) {
  return make_plan([there = context.has_input(0)](const RunArgs& args) {
    *output_of<uint8_t>(args, 0) = there ? 1 : 0;
  });
}

Status get_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  return set_output(context, 0, x.dtype, x.shape);
}

PlanResult plan_get(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const size_t bytes = bytes_of(x.dtype, static_cast<size_t>(element_count(x.shape)));
  return make_plan([bytes](const RunArgs& args) {
    if (bytes > 0) std::memcpy(args.outputs[0], args.inputs[0], bytes);
  });
}

// Whatever a copy of bytes hands on.
constexpr DTypeSet kHeld = kAnyPacked | kFloat6;

}  // namespace

void register_optional(Registry& registry) {
  registry.add(OpSchema{.name = "OptionalHasElement",
                        .since = 15,
                        .inputs = {{"input", "T", Presence::optional}},
                        .outputs = {{"output", "B"}},
                        .types = {{"T", kHeld}},
                        .traits = OpTraits::general().with(Strings::moved),
                        .shape = has_rule});
  registry.add(OpSchema{.name = "OptionalGetElement",
                        .since = 15,
                        .inputs = {{"input", "T"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"T", kHeld}},
                        .traits = OpTraits::general().with(Strings::moved),
                        .shape = get_rule});
  registry.add(KernelDef{.op = "OptionalHasElement",
                         .name = "reference",
                         .types = kHeld,
                         .create = create_plain<plan_has>});
  registry.add(KernelDef{.op = "OptionalGetElement",
                         .name = "reference",
                         .types = kHeld,
                         .create = create_plain<plan_get>});
}

}  // namespace anynpu::ops::control_flow
