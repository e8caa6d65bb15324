// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml.h"

#include <dlfcn.h>

namespace anynpu::device::cuda {

namespace {

// The few functions that are called, declared here: nvml.h is not part of every toolkit.
using NvmlDevice = struct nvmlDevice*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned int gpu, memory;
};
constexpr unsigned int kCoreTemperature = 0;

struct Nvml {
  int (*init)() = nullptr;
  int (*by_bus)(const char* bus, NvmlDevice* device) = nullptr;
  int (*memory)(NvmlDevice device, NvmlMemory* memory) = nullptr;
  int (*utilization)(NvmlDevice device, NvmlUtilization* rates) = nullptr;
  int (*temperature)(NvmlDevice device, unsigned int sensor, unsigned int* celsius) = nullptr;
  int (*power)(NvmlDevice device, unsigned int* milliwatts) = nullptr;
  bool usable = false;
};

Nvml load() {
  Nvml nvml;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nvml;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  nvml.usable = find(nvml.init, "nvmlInit_v2") &&
                find(nvml.by_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
                find(nvml.memory, "nvmlDeviceGetMemoryInfo") &&
                find(nvml.utilization, "nvmlDeviceGetUtilizationRates") &&
                find(nvml.temperature, "nvmlDeviceGetTemperature") &&
                find(nvml.power, "nvmlDeviceGetPowerUsage") && nvml.init() == 0;
  return nvml;
}

}  // namespace

DeviceHealth read_health(const Gpu& gpu) {
  static const auto* const nvml = new Nvml(load());
  DeviceHealth health;
  health.product = gpu.name();
  health.bus = gpu.bus();
  health.memory_total = static_cast<int64_t>(gpu.memory_bytes());
  NvmlDevice device = nullptr;
  if (!nvml->usable || nvml->by_bus(gpu.bus().c_str(), &device) != 0) return health;
  if (NvmlMemory memory = {}; nvml->memory(device, &memory) == 0) {
    health.memory_total = static_cast<int64_t>(memory.total);
    health.memory_used = static_cast<int64_t>(memory.used);
  }
  if (NvmlUtilization rates = {}; nvml->utilization(device, &rates) == 0)
    health.load_percent = static_cast<int32_t>(rates.gpu);
  if (unsigned int celsius = 0; nvml->temperature(device, kCoreTemperature, &celsius) == 0)
    health.temperature_c = static_cast<int32_t>(celsius);
  if (unsigned int milliwatts = 0; nvml->power(device, &milliwatts) == 0)
    health.power_w = milliwatts / 1000.0;
  return health;
}

}  // namespace anynpu::device::cuda
