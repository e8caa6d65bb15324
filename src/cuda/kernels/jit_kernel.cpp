// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/jit_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace anynpu::device::cuda {

namespace {

constexpr unsigned kThreads = 256;
constexpr size_t kMostBlocks = 132 * 64;  // larger counts are covered by the grid stride loop
std::atomic<int> checked_capability{0};

}  // namespace

Result<std::shared_ptr<const JitKernel>> JitKernel::make(std::string source) {
  std::shared_ptr<const JitKernel> kernel(new JitKernel(std::move(source)));
  if (const auto gpus = Gpu::used(); !gpus.empty()) ANYNPU_TRY(kernel->function(*gpus[0]).status());
  if (const int capability = checked_capability)
    ANYNPU_TRY(check_source(kernel->source_, capability));
  return kernel;
}

void JitKernel::check_for(int capability) { checked_capability = capability; }

Result<CUfunction> JitKernel::function(const Gpu& gpu) const {
  auto& slot = functions_[static_cast<size_t>(gpu.unit()) % kMostGpus];
  if (const CUfunction known = slot.load(std::memory_order_acquire)) return known;
  ANYNPU_ASSIGN(const CUfunction made, compile_kernel(gpu, source_));
  slot.store(made, std::memory_order_release);
  return made;
}

Status JitKernel::launch(const Gpu& gpu, CUstream stream, size_t blocks, unsigned threads,
                         void** arguments) const {
  if (blocks == 0) return {};
  ANYNPU_ASSIGN(const CUfunction found, function(gpu));
  CUlaunchAttribute programmatic = {};
  programmatic.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  programmatic.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = static_cast<unsigned>(blocks);
  config.blockDimX = threads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &programmatic;
  config.numAttrs = uses_programmatic_launch(gpu) ? 1 : 0;
  return cuda_status(driver().cuLaunchKernelEx(&config, found, arguments, nullptr),
                     "launching a kernel");
}

Status JitKernel::launch_over(const Gpu& gpu, CUstream stream, size_t count,
                              void** arguments) const {
  return launch(gpu, stream, std::min((count + kThreads - 1) / kThreads, kMostBlocks), kThreads,
                arguments);
}

std::string_view cuda_name(DType type) {
  switch (type) {
    case DType::f32:
      return "float";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::f64:
      return "double";
    case DType::i8:
      return "i8";
    case DType::i16:
      return "i16";
    case DType::i32:
      return "i32";
    case DType::i64:
      return "i64";
    case DType::u8:
      return "u8";
    case DType::u16:
      return "u16";
    case DType::u32:
      return "u32";
    case DType::u64:
      return "u64";
    case DType::boolean:
      return "boolean";
    default:
      return {};
  }
}

std::string literal(double value) {
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  char text[40];
  std::snprintf(text, sizeof text, "(%.17g)", value);
  return text;
}

std::string_view compute_name(DType type) {
  if (type == DType::f16 || type == DType::bf16) return "float";
  return type == DType::boolean ? "bool" : cuda_name(type);
}

}  // namespace anynpu::device::cuda
