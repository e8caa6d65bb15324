// SPDX-License-Identifier: Apache-2.0
// Runs a custom kernel. Its output and a failed assertion are also written to a file if the
// configuration says so (dump_kernel_data).
#pragma once

#include "exec/device_kernel.h"

namespace anynpu::service {

Status run_kernel(const exec::DeviceKernel& kernel, exec::KernelLaunch& launch, int32_t device);

}  // namespace anynpu::service
