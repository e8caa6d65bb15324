// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of the program. What it prints and the assertion that ends it also go to a file
// when the configuration asks for it (dump_kernel_data).
#pragma once

#include "exec/device_kernel.h"

namespace anynpu::service {

Status run_kernel(const exec::DeviceKernel& kernel, exec::KernelLaunch& launch, int32_t device);

}  // namespace anynpu::service
