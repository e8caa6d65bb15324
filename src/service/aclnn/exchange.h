// SPDX-License-Identifier: Apache-2.0
// Data that aclnn operators exchange between the ranks of a communicator. An exchange follows the
// graph of a part of the plan and runs as a collective operation of the stream.
#pragma once

#include "device/stream.h"
#include "service/aclnn/executor.h"

namespace anynpu::service {

// Fails unless the current device has a rank in every group of the plan, and each group has as many
// ranks as the plan was made for.
Status check_groups(const NnPlan& plan);
Status exchange(const NnRun& run, const aclnn::Transfer& transfer, const device::Stream& stream,
                Handle stream_handle);

}  // namespace anynpu::service
