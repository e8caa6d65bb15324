// SPDX-License-Identifier: Apache-2.0
#include "cuda/gpu.h"

#include <map>
#include <memory>
#include <mutex>

namespace anynpu::device::cuda {

namespace {

constexpr int kOldestCapability = 75;  // Turing, the oldest that CUDA 13 supports

struct Gpus {
  std::mutex mutex;
  std::map<int, Gpu*> by_unit;
};
Gpus& gpus() {
  static auto* all = new Gpus;
  return *all;
}

}  // namespace

Result<Gpu*> Gpu::find(int unit) {
  ANYNPU_ASSIGN(const Driver* const cuda, open_driver());
  const std::lock_guard lock(gpus().mutex);
  if (const auto known = gpus().by_unit.find(unit); known != gpus().by_unit.end())
    return known->second;
  int count = 0;
  ANYNPU_TRY(cuda_status(cuda->cuDeviceGetCount(&count), "counting the GPUs"));
  if (unit < 0 || unit >= count) {
    return fail(Code::invalid_device,
                "this machine has {} GPUs, numbered from 0; there is no GPU {}", count, unit);
  }
  CUdevice device = 0;
  ANYNPU_TRY(cuda_status(cuda->cuDeviceGet(&device, unit), "looking for a GPU"));
  std::unique_ptr<Gpu> gpu(new Gpu(unit, device));
  ANYNPU_TRY(gpu->open(), "GPU {}", unit);
  return gpus().by_unit[unit] = gpu.release();
}

std::vector<Gpu*> Gpu::used() {
  const std::lock_guard lock(gpus().mutex);
  std::vector<Gpu*> all;
  for (const auto& [unit, gpu] : gpus().by_unit) all.push_back(gpu);
  return all;
}

Status Gpu::open() {
  const Driver& cuda = driver();
  char name[128] = {};
  ANYNPU_TRY(cuda_status(cuda.cuDeviceGetName(name, sizeof name, device_), "asking for its name"));
  name_ = name;
  char bus[32] = {};
  if (cuda.cuDeviceGetPCIBusId(bus, sizeof bus, device_) == CUDA_SUCCESS) bus_ = bus;
  int major = 0, minor = 0;
  cuda.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_);
  cuda.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_);
  capability_ = major * 10 + minor;
  if (capability_ < kOldestCapability) {
    return fail(Code::unsupported_feature,
                "{} has compute capability {}.{}; CUDA 13 needs 7.5 (Turing) or later", name_,
                major, minor);
  }
  int pitch = 0;
  cuda.cuDeviceGetAttribute(&pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, device_);
  max_pitch_ = static_cast<size_t>(pitch);
  ANYNPU_TRY(cuda_status(cuda.cuDeviceTotalMem(&memory_bytes_, device_), "asking for its memory"));
  return cuda_status(cuda.cuDevicePrimaryCtxRetain(&context_, device_),
                     "opening the GPU (is it in use by a program that has it alone?)");
}

Status Gpu::enter() const {
  return cuda_status(driver().cuCtxSetCurrent(context_), "making the GPU current");
}

}  // namespace anynpu::device::cuda
