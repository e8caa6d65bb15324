// SPDX-License-Identifier: Apache-2.0
// What operators exchange between the ranks of a communicator: behind the graph of a part, as a
// collective operation of the stream.
#pragma once

#include "device/stream.h"
#include "service/aclnn/executor.h"

namespace anynpu::service {

// Whether the current device is a rank of all groups of the plan, and they have the ranks that it
// counts on.
Status check_groups(const NnPlan& plan);
Status exchange(const NnRun& run, const aclnn::Transfer& transfer, const device::Stream& stream,
                Handle stream_handle);

}  // namespace anynpu::service
