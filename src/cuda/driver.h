// SPDX-License-Identifier: Apache-2.0
// The CUDA driver API, loaded from libcuda.so.1 on first use. The plug-in does not link it, so it
// loads on machines without a driver and can report what is missing. Thread-safe.
#pragma once

#include <cuda.h>

#include "base/result.h"

namespace anynpu::device::cuda {

struct Driver {
#define X(name) decltype(&::name) name = nullptr;
#include "cuda/driver.def"
#undef X
};

// Loads and initializes the driver. Fails with unsupported_feature and says what to install.
Result<const Driver*> open_driver();
// Only valid after open_driver() succeeded.
const Driver& driver();

// Converts the result of a driver call to a Status; `what` describes the call in the message.
Status cuda_status(CUresult result, const char* what);

}  // namespace anynpu::device::cuda
