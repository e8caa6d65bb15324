// SPDX-License-Identifier: Apache-2.0
// Kernels generated at run time, and plans that launch them.
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

// extern "C" __global__ void kernel(...), compiled for each GPU that runs it. Immutable.
class JitKernel {
 public:
  // Compiled immediately for the first GPU in use, so that a source that does not compile fails at
  // planning time.
  static Result<std::shared_ptr<const JitKernel>> make(std::string source);
  // For tests on machines without a GPU: from now on sources are compiled for this capability when
  // a kernel is made, and only checked.
  static void check_for(int capability);

  // `arguments`: pointers to the parameter values, as cuLaunchKernel takes them.
  Status launch(const Gpu& gpu, CUstream stream, size_t blocks, unsigned threads,
                void** arguments) const;
  Status launch(CudaQueue& queue, size_t blocks, unsigned threads, void** arguments) const {
    return launch(queue.gpu(), queue.stream(), blocks, threads, arguments);
  }
  // The same with one thread for each of `count` elements, in as many blocks as the GPU takes.
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

// "float", "f16" ...: the name of the type in generated kernels; empty if they do not have it.
std::string_view cuda_name(DType type);
// The type that kernels compute in: "float", "double", or the type itself.
std::string_view compute_name(DType type);

// A number as a CUDA C++ literal.
std::string literal(double value);

}  // namespace anynpu::device::cuda
