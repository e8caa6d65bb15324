// SPDX-License-Identifier: Apache-2.0
// Kernels that are generated as CUDA C++ and compiled at run time, and plans that launch them.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "cuda/cuda_queue.h"
#include "cuda/kernels/compiler.h"
#include "ops/enqueued_plan.h"
#include "ops/plain_kernel.h"

namespace anynpu::device::cuda {

// One generated kernel, extern "C" __global__ void kernel(...), compiled once for each GPU that
// runs it. Immutable.
class JitKernel {
 public:
  // Compiles for the first GPU in use right away, so that compile errors surface at planning time.
  static Result<std::shared_ptr<const JitKernel>> make(std::string source);
  // For tests without a GPU: from now on make() also checks that sources compile for this compute
  // capability.
  static void check_for(int capability);

  // `arguments` are pointers to the parameter values, as for cuLaunchKernel.
  Status launch(const Gpu& gpu, CUstream stream, size_t blocks, unsigned threads,
                void** arguments) const;
  Status launch(CudaQueue& queue, size_t blocks, unsigned threads, void** arguments) const {
    return launch(queue.gpu(), queue.stream(), blocks, threads, arguments);
  }
  // For kernels with a grid stride loop over `count` elements: the grid has a thread for each
  // element, up to a maximum.
  Status launch_over(const Gpu& gpu, CUstream stream, size_t count, void** arguments) const;
  Status launch_over(CudaQueue& queue, size_t count, void** arguments) const {
    return launch_over(queue.gpu(), queue.stream(), count, arguments);
  }

 private:
  static constexpr size_t kMostGpus = 64;
  explicit JitKernel(std::string source) : source_(std::move(source)) {}
  Result<CUfunction> function(const Gpu& gpu) const;

  const std::string source_;
  mutable std::array<std::atomic<CUfunction>, kMostGpus> functions_{};
};

// `launch` is a Status(const ops::RunArgs&, CudaQueue&).
template <typename Launch>
class CudaPlan final : public ops::EnqueuedPlan {
 public:
  explicit CudaPlan(Launch launch) : launch_(std::move(launch)) {}
  Status enqueue(const ops::RunArgs& args, Queue& queue) const override {
    auto& own = static_cast<CudaQueue&>(queue);
    ANYNPU_TRY(own.enter());
    return launch_(args, own);
  }

 private:
  Launch launch_;
};
template <typename Launch>
std::unique_ptr<ops::KernelPlan> cuda_plan(Launch launch) {
  return std::make_unique<CudaPlan<Launch>>(std::move(launch));
}

// The name of the type in generated kernels, such as "float" or "f16"; empty if it is not
// supported.
std::string_view cuda_name(DType type);
// The type that kernels compute in: "float" for 16-bit floats, otherwise the type itself.
std::string_view compute_name(DType type);

// A number as a CUDA C++ literal.
std::string literal(double value);

}  // namespace anynpu::device::cuda
