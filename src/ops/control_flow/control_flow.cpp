// SPDX-License-Identifier: Apache-2.0
// Control flow, sequences and optionals: operators that have no kernel. The compiler infers them
// (compile/infer_flow.cpp) and the executor runs them (exec/flow_step.cpp, exec/sequence_step.cpp).
#include "ops/control_flow/control_flow.h"

#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops::control_flow {

namespace {

Status no_rule(OpContext&) { return {}; }

struct FlowName {
  std::string_view name;
  int64_t since;
  PrecisionClass precision = PrecisionClass::black;
};
constexpr FlowName kFlowOps[] = {
    {"If", 1, PrecisionClass::fixed},
    {"Loop", 1, PrecisionClass::fixed},
    {"Scan", 8, PrecisionClass::fixed},
    {"SequenceMap", 17, PrecisionClass::fixed},
    {"SequenceConstruct", 11},
    {"SequenceEmpty", 11},
    {"SequenceAt", 11},
    {"SequenceInsert", 11},
    {"SequenceErase", 11},
    {"SequenceLength", 11},
    {"SplitToSequence", 11},
    {"ConcatFromSequence", 11},
    {"Optional", 15},
};

}  // namespace

void register_family(Registry& registry) {
  register_optional(registry);
  for (const FlowName& op : kFlowOps) {
    registry.add(OpSchema{.name = op.name,
                          .since = op.since,
                          .inputs = {{"inputs", "V", Presence::variadic}},
                          .outputs = {{"outputs", "V", Presence::variadic}},
                          .traits = OpTraits::general().with(op.precision).with(SizedBy::data),
                          .shape = no_rule,
                          .is_flow = true});
  }
}

}  // namespace anynpu::ops::control_flow
