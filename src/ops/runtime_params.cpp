// SPDX-License-Identifier: Apache-2.0
#include "ops/runtime_params.h"

#include "ops/registry.h"

namespace anynpu::ops {

bool parameters_known(const OpContext& context, uint64_t mask) {
  for (size_t i = 0; i < context.inputs.size() && i < 64; ++i) {
    if ((mask >> i & 1) != 0 && context.inputs[i].present && !context.inputs[i].is_constant)
      return false;
  }
  return true;
}

Status set_output(OpContext& context, size_t index, DType dtype, Shape shape) {
  if (index >= context.outputs.size()) return {};
  context.outputs[index].dtype = dtype;
  context.outputs[index].shape = std::move(shape);
  context.outputs[index].has_shape = true;
  return {};
}

PlanResult plan_with_runtime_params(const OpContext& context, PlanFunction function) {
  // The node outlives the graph here: the plan keeps copies.
  auto node = std::make_shared<graph::Node>(*context.node);
  return make_checked_plan([node, schema = context.schema, inputs = context.inputs,
                            outputs = context.outputs, target = context.target,
                            function](const RunArgs& args) -> Status {
    OpContext now;
    now.node = node.get();
    now.schema = schema;
    now.target = target;
    now.inputs = inputs;
    now.outputs.resize(outputs.size());
    for (size_t i = 0; i < now.inputs.size(); ++i) {
      Operand& input = now.inputs[i];
      if (!input.present) continue;
      input.is_constant = true;
      const auto count = static_cast<size_t>(element_count(input.shape));
      input.constant = {args.inputs[i], bytes_of(input.dtype, count)};
    }
    ANYNPU_TRY(schema->shape(now));
    for (size_t i = 0; i < outputs.size(); ++i) {
      now.outputs[i].present = outputs[i].present;
      if (!outputs[i].present || now.outputs[i].shape == outputs[i].shape) continue;
      return fail(Code::shape_mismatch,
                  "{}: the values of its inputs give output {} the shape {}, the model states {}; "
                  "feed values that fit, or compile the model with another shape",
                  now.label(), i, to_string(now.outputs[i].shape), to_string(outputs[i].shape));
    }
    ANYNPU_ASSIGN(const auto plan, function(now));
    std::vector<std::byte> workspace(plan->workspace_bytes);
    RunArgs inner = args;
    inner.workspace = workspace.data();
    return plan->run(inner);
  });
}

}  // namespace anynpu::ops
