// SPDX-License-Identifier: Apache-2.0
// A generated kernel and its plans.
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
  // Compiled at once for the first GPU in use, so that what cannot be compiled is refused while
  // planning.
  static Result<std::shared_ptr<const JitKernel>> make(std::string source);

  // `arguments` point to the values of the parameters.
  Status launch(CudaQueue& queue, size_t blocks, unsigned threads, void** arguments) const;
  // The same with one thread for each of `count` things, as many blocks as the GPU takes.
  Status launch_over(CudaQueue& queue, size_t count, void** arguments) const;

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

// "float", "f16" ...: as the prelude of generated kernels calls a type; empty for others.
std::string_view cuda_name(DType type);
// What kernels compute in: "float", "double", or the type itself.
std::string_view compute_name(DType type);

// A number as generated code writes it.
std::string literal(double value);

}  // namespace anynpu::device::cuda
