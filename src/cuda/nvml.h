// SPDX-License-Identifier: Apache-2.0
// Memory, load, temperature and power of a GPU, from NVML, the driver's management library, which
// is loaded on first use. Thread-safe.
#pragma once

#include "cuda/gpu.h"
#include "device/device_facts.h"

namespace anynpu::device::cuda {

// What NVML cannot tell stays unknown.
DeviceHealth read_health(const Gpu& gpu);

}  // namespace anynpu::device::cuda
