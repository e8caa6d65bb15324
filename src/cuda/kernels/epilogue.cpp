// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/epilogue.h"

namespace anynpu::device::cuda {

Result<std::shared_ptr<const JitKernel>> make_epilogue(const Epilogue& epilogue) {
  if (epilogue.empty()) return std::shared_ptr<const JitKernel>();
  const std::string_view type = cuda_name(epilogue.type);
  std::string body = "    C v = load(y[i]);\n";
  if (!epilogue.c_index.empty())
    body += format("    v += (C){} * load(c[{}]);\n", literal(epilogue.c_scale), epilogue.c_index);
  if (epilogue.has_z) body += "    v += load(z[i]);\n";
  if (!epilogue.curve.empty()) body += format("    v = {};\n", epilogue.curve);
  if (epilogue.activation.on) {
    body += format("    v = v < (C){0} ? (C){0} : v > (C){1} ? (C){1} : v;\n",
                   literal(epilogue.activation.min), literal(epilogue.activation.max));
  }
  return JitKernel::make(
      format("typedef {} C;\nextern \"C\" __global__ void kernel({}* y, const {}* c, const {}* z, "
             "u64 n) {{\n  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n;"
             " i += gridDim.x * (u64)blockDim.x) {{\n{}    store(y[i], v);\n  }}\n}}\n",
             compute_name(epilogue.type), type, type, type, body));
}

Status enqueue_epilogue(const JitKernel* kernel, CudaQueue& queue, void* y, const void* c,
                        const void* z, size_t count) {
  if (!kernel) return {};
  void* arguments[] = {&y, &c, &z, &count};
  return kernel->launch_over(queue, count, arguments);
}

}  // namespace anynpu::device::cuda
