// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies as programs of the vendor's runtime know them. Two rules differ between its
// documents: a copy inside the host is refused by the call (runtime) or by the next synchronize
// (guide of pyACL), and the call waits for a copy with host memory that is neither pinned nor
// registered (runtime) or does not (guide). The runtime also has limits of its own for copies of
// rows: unsupported_shape. Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/handle_table.h"
#include "base/status.h"
#include "device/copy_batch.h"
#include "device/memory.h"

namespace anynpu::service {

enum class CopyRules { runtime, guide };
// For the whole process; runtime unless set.
void set_copy_rules(CopyRules rules);

Status copy_async(const device::Copy& request, Handle stream);
// Rows between the host and a device; queued ones have at most 5,000,000 bytes and are at most
// 5,242,880.
Status copy_2d(const device::Copy2d& request);
Status copy_2d_async(const device::Copy2d& request, Handle stream);
// As device::copy_batch_async.
Status copy_batch_async(std::span<const device::BatchCopy> copies, size_t* failed, Handle stream);

}  // namespace anynpu::service
