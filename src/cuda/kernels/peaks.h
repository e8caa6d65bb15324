// SPDX-License-Identifier: Apache-2.0
// What a GPU can do at most, measured: a large copy in its memory, and large matrix products. The
// result is kept in the disk cache.
#pragma once

#include "cuda/gpu.h"
#include "device/device_facts.h"

namespace anynpu::device::cuda {

DevicePeaks measure_peaks(const Gpu& gpu);

}  // namespace anynpu::device::cuda
