// SPDX-License-Identifier: Apache-2.0
// Kernels of the back end `remote`: a few, so that models mix them with those of the CPU.
#pragma once

namespace anynpu::device {

// May be called again.
void add_remote_kernels();

}  // namespace anynpu::device
