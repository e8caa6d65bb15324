// SPDX-License-Identifier: Apache-2.0
// Inputs that a program keeps in host memory: their values are part of the operator. Thread-safe.
#pragma once

#include "service/op/op_call.h"

namespace anynpu::service {

// Reads the inputs that are described as placed on the host (axes, shapes, sizes), so that they are
// constants of `op`. Longer ones than a list of sizes are data and stay inputs.
Status take_host_values(const OpBuffers& buffers, singleop::SingleOp& op);

}  // namespace anynpu::service
