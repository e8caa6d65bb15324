// SPDX-License-Identifier: Apache-2.0
// Which kernel runs a node, and why the others do not.

#include "base/env.h"
#include "base/log.h"
#include "base/quiet_write.h"
#include "ops/backend_kernels.h"
#include "ops/check_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

// Tries the kernels of one back end in order; what refuses is noted in `reasons`.
const KernelDef* first_that_runs(const std::vector<const KernelDef*>& kernels,
                                 const OpContext& context, std::string_view chosen,
                                 std::string& reasons) {
  const bool verbose = env::lists(env::Name::verbose, "dispatch");
  for (const KernelDef* kernel : kernels) {
    const Status status = check_kernel(*kernel, context);
    if (verbose) {
      const std::string line = format("anynpu,dispatch,{},{},{}\n", context.label(), kernel->name,
                                      status.ok() ? std::string(chosen) : status.message());
      write_error_text(line);
    }
    if (status.ok()) return kernel;
    reasons += format("{}{}: {}", reasons.empty() ? "" : "; ", kernel->name, status.message());
  }
  return nullptr;
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
  const OpSchema& schema = *context.schema;
  const auto of_cpu = Registry::instance().kernels(schema.name, schema.domain);
  std::string reasons;
  if (context.target.backend == "cpu") {
    if (const KernelDef* kernel = first_that_runs(of_cpu, context, "chosen", reasons))
      return kernel;
  } else {
    const std::string_view backend = context.target.backend;
    const auto of_backend = backend_kernels(backend, schema.name, schema.domain);
    if (const KernelDef* kernel = first_that_runs(of_backend, context, "chosen", reasons))
      return kernel;
    OpContext on_host = context;
    on_host.target = Target::host();
    const std::string chosen = format("chosen: falls back from {} to the host", backend);
    if (const KernelDef* kernel = first_that_runs(of_cpu, on_host, chosen, reasons)) {
      ANYNPU_LOG(info, "{} runs on the host with {}: {} has {}", context.label(), kernel->name,
                 backend, of_backend.empty() ? "no kernel for it" : "kernels that refuse it");
      return kernel;
    }
  }
  return fail(Code::unsupported_op,
              "{}: no kernel runs it ({}); change the type or shape of the node", context.label(),
              reasons.empty() ? std::string("none is registered") : reasons);
}

}  // namespace anynpu::ops
