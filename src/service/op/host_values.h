// SPDX-License-Identifier: Apache-2.0
// Inputs that a program keeps in host memory: their values are part of the operator. Thread-safe.
#pragma once

#include "service/op/op_call.h"

namespace anynpu::service {

// Turns inputs that are described as placed on the host (axes, shapes, sizes) into constants of
// `op`. An input longer than a list of sizes is data and stays an input.
Status take_host_values(const OpBuffers& buffers, singleop::SingleOp& op);

}  // namespace anynpu::service
