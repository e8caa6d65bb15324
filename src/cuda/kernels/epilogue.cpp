// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/epilogue.h"

namespace anynpu::device::cuda {

namespace {

std::string body_of(const Epilogue& epilogue) {
  std::string body;
  if (!epilogue.activation_code.empty()) body += format("    v = {};\n", epilogue.activation_code);
  return body + clamp_code(epilogue.activation);
}

Result<std::shared_ptr<const JitKernel>> make_scalar(const Epilogue& epilogue) {
  const std::string_view type = cuda_name(epilogue.type);
  std::string body = "    C v = load(y[i]);\n";
  if (!epilogue.c_index.empty())
    body += format("    v += (C){} * load(c[{}]);\n", literal(epilogue.c_scale), epilogue.c_index);
  if (epilogue.has_z) body += "    v += load(z[i]);\n";
  return JitKernel::make(format(
      "typedef {0} C;\nextern \"C\" __global__ void kernel({1}* y, const {1}* c, const {1}* z, "
      "u64 n) {{\n  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n;"
      " i += gridDim.x * (u64)blockDim.x) {{\n{2}{3}    store(y[i], v);\n  }}\n}}\n",
      compute_name(epilogue.type), type, body, body_of(epilogue)));
}

Result<std::shared_ptr<const JitKernel>> make_vectorized(const Epilogue& epilogue, size_t pack) {
  return JitKernel::make(format(
      "typedef {0} C; typedef Pack<{1}> P;\n"
      "extern \"C\" __global__ void kernel(P* y, const void*, const P* z, u64 n) {{\n"
      "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n;"
      " i += gridDim.x * (u64)blockDim.x) {{\n"
      "    P p = y[i];{2}\n#pragma unroll\n    for (int k = 0; k < {3}; ++k) {{\n"
      "    C v = load(p.v[k]);{4}\n{5}    store(p.v[k], v);\n    }}\n    y[i] = p;\n  }}\n}}\n",
      compute_name(epilogue.type), cuda_name(epilogue.type),
      epilogue.has_z ? " const P q = z[i];" : "", pack, epilogue.has_z ? " v += load(q.v[k]);" : "",
      body_of(epilogue)));
}

}  // namespace

std::string clamp_code(const ops::Activation& activation) {
  if (!activation.on) return {};
  return format("    v = v < (C){0} ? (C){0} : v > (C){1} ? (C){1} : v;\n", literal(activation.min),
                literal(activation.max));
}

Result<EpilogueKernels> make_epilogue(const Epilogue& epilogue) {
  EpilogueKernels kernels;
  if (epilogue.empty()) return kernels;
  ANYNPU_ASSIGN(kernels.scalar, make_scalar(epilogue));
  kernels.pack = 16 / size_of(epilogue.type);
  if (epilogue.c_index.empty()) {
    ANYNPU_ASSIGN(kernels.vectorized, make_vectorized(epilogue, kernels.pack));
  }
  return kernels;
}

Status enqueue_epilogue(const EpilogueKernels& kernels, const Gpu& gpu, CUstream stream, void* y,
                        const void* c, const void* z, size_t count) {
  if (!kernels.scalar) return {};
  const auto bits = reinterpret_cast<uintptr_t>(y) | reinterpret_cast<uintptr_t>(z);
  const bool vectorized = kernels.vectorized && count % kernels.pack == 0 && bits % 16 == 0;
  if (vectorized) count /= kernels.pack;
  void* arguments[] = {&y, &c, &z, &count};
  return (vectorized ? kernels.vectorized : kernels.scalar)
      ->launch_over(gpu, stream, count, arguments);
}

}  // namespace anynpu::device::cuda
