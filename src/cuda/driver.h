// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver library, libcuda.so.1, opened on first use. AnyNPU does not link it, so this
// plug-in loads on machines without a driver and reports what is missing. Thread-safe.
#pragma once

#include <cuda.h>

#include "base/result.h"

namespace anynpu::device::cuda {

struct Driver {
#define X(name) decltype(&::name) name = nullptr;
#include "cuda/driver.def"
#undef X
};

// The driver, initialised. Fails with unsupported_feature and what to install.
Result<const Driver*> open_driver();
// For code that runs only after open_driver() succeeded.
const Driver& driver();

// The outcome of a driver call as a Status: `what` says what was being done.
Status cuda_status(CUresult result, const char* what);

}  // namespace anynpu::device::cuda
