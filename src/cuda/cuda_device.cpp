// SPDX-License-Identifier: Apache-2.0
// The back end `cuda` for NVIDIA GPUs. cuda:N is the GPU with index N.
#include <mutex>

#include "cuda/cuda_memory.h"
#include "cuda/cuda_queue.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/peaks.h"
#include "cuda/nvml.h"
#include "device/backend.h"
#include "device/device.h"

namespace anynpu::device::cuda {

namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(const DeviceOptions& options, Gpu& gpu)
      : Device(options.id, options.physical_id), gpu_(gpu) {}

  std::string description() const override {
    return format("{}, GPU {}, {} MiB", gpu_.name(), gpu_.unit(), gpu_.memory_bytes() >> 20);
  }
  const Capabilities& capabilities() const override {
    static constexpr Capabilities kCuda{.backend = "cuda",
                                        .kernels = "cuda",
                                        .host_readable = false,
                                        .finishes_calls = false,
                                        .shared_memory = false,
                                        .media = true};
    static constexpr Capabilities kManaged = [] {
      Capabilities managed = kCuda;
      managed.host_readable = true;
      return managed;
    }();
    return CudaMemory::is_managed() ? kManaged : kCuda;
  }

  Result<std::shared_ptr<DeviceMemory>> memory() override {
    const std::lock_guard lock(mutex_);
    if (!memory_) {
      ANYNPU_ASSIGN(memory_, CudaMemory::reserve(gpu_));
    }
    return std::shared_ptr<DeviceMemory>(memory_);
  }
  size_t memory_total() const override { return gpu_.memory_bytes(); }
  size_t memory_used() const override {
    const std::lock_guard lock(mutex_);
    return memory_ ? memory_->used() : 0;
  }
  std::shared_ptr<Queue> create_queue(uint32_t priority) override {
    return std::make_shared<CudaQueue>(gpu_, priority);
  }
  const Gpu& gpu() const { return gpu_; }

 private:
  Gpu& gpu_;
  mutable std::mutex mutex_;
  std::shared_ptr<CudaMemory> memory_;
};

const Gpu& gpu_of(Device& device) { return static_cast<CudaDevice&>(device).gpu(); }

std::shared_ptr<void> pin(void* address, size_t bytes) {
  const auto gpus = Gpu::used();
  if (gpus.empty() || !gpus[0]->enter().ok()) return nullptr;
  if (driver().cuMemHostRegister(address, bytes, CU_MEMHOSTREGISTER_PORTABLE) != CUDA_SUCCESS)
    return nullptr;
  return std::shared_ptr<void>(address, [gpu = gpus[0]](void* pinned) {
    if (gpu->enter().ok()) driver().cuMemHostUnregister(pinned);
  });
}

}  // namespace

}  // namespace anynpu::device::cuda

extern "C" __attribute__((visibility("default"))) const anynpu::device::Backend anynpu_cuda_backend;
const anynpu::device::Backend anynpu_cuda_backend{
    .name = "cuda",
    .number = anynpu::device::Backend::Number::unit,
    .create = [](const anynpu::device::DeviceOptions& options)
        -> anynpu::Result<std::shared_ptr<anynpu::device::Device>> {
      ANYNPU_ASSIGN(auto* const gpu, anynpu::device::cuda::Gpu::find(options.unit));
      anynpu::device::cuda::add_kernels();
      return std::shared_ptr<anynpu::device::Device>(
          std::make_shared<anynpu::device::cuda::CudaDevice>(options, *gpu));
    },
    .pin = anynpu::device::cuda::pin,
    .health =
        [](anynpu::device::Device& device) {
          return anynpu::device::cuda::read_health(anynpu::device::cuda::gpu_of(device));
        },
    .peaks =
        [](anynpu::device::Device& device) {
          return anynpu::device::cuda::measure_peaks(anynpu::device::cuda::gpu_of(device));
        }};
