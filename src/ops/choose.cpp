// SPDX-License-Identifier: Apache-2.0
// Which kernel runs a node, and why the others do not.
#include <cstdio>

#include "base/env.h"
#include "ops/check_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

Status refusal(const KernelDef& kernel, const OpContext& context) {
  if (kernel.backend != context.target.backend) {
    return fail(Code::unsupported_feature, "runs on {}, the plan is for {}", kernel.backend,
                context.target.backend);
  }
  return check_kernel(kernel, context);
}

}  // namespace

Status check_kernel(const KernelDef& kernel, const OpContext& context) {
  if (context.has_input(0) && !kernel.types.has(context.inputs[0].dtype)) {
    return fail(Code::unsupported_dtype, "type {}, takes {}", name_of(context.inputs[0].dtype),
                kernel.types.to_string());
  }
  return kernel.can_run ? kernel.can_run(context) : Status{};
}

Result<const KernelDef*> choose_kernel(const OpContext& context) {
  const bool verbose = env::lists(env::Name::verbose, "dispatch");
  std::string reasons;
  for (const KernelDef* kernel :
       Registry::instance().kernels(context.schema->name, context.schema->domain)) {
    const Status status = refusal(*kernel, context);
    if (verbose) {
      const std::string line = format("anynpu,dispatch,{},{},{}\n", context.label(), kernel->name,
                                      status.ok() ? std::string("chosen") : status.message());
      std::fputs(line.c_str(), stderr);
    }
    if (status.ok()) return kernel;
    reasons += format("{}{}: {}", reasons.empty() ? "" : "; ", kernel->name, status.message());
  }
  return fail(Code::unsupported_op,
              "{}: no kernel runs it ({}); change the type or shape of the node", context.label(),
              reasons.empty() ? std::string("none is registered") : reasons);
}

}  // namespace anynpu::ops
