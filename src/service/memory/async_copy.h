// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies by the vendor's rules. Two rules differ between its documents: a host-to-host
// copy is refused by the call (C headers) or by the next synchronize (pyACL guide), and a copy with
// pageable host memory is synchronous (headers) or queued (guide). The headers also limit 2D
// copies: unsupported_shape. Thread-safe.
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
// 2D copies between host and device; asynchronous ones have a width of at most 5,000,000 bytes and
// at most 5,242,880 rows.
Status copy_2d(const device::Copy2d& request);
Status copy_2d_async(const device::Copy2d& request, Handle stream);
// As device::copy_batch_async.
Status copy_batch_async(std::span<const device::BatchCopy> copies, size_t* failed, Handle stream);

}  // namespace anynpu::service
