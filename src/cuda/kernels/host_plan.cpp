// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/host_plan.h"

#include "ops/registry.h"

namespace anynpu::device::cuda {

Result<std::unique_ptr<ops::KernelPlan>> host_plan(const ops::OpContext& context) {
  ops::OpContext on_host = context;
  on_host.target = ops::Target::host();
  for (ops::Operand& input : on_host.inputs) input.layout = ops::Layout::plain;
  ANYNPU_ASSIGN(const ops::KernelDef* const def, ops::choose_kernel(on_host));
  ANYNPU_ASSIGN(const auto kernel, def->create(on_host));
  return kernel->plan(on_host);
}

std::string bits_type(size_t bytes) {
  if (bytes == 16) return "ulonglong2";
  return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
}

}  // namespace anynpu::device::cuda
