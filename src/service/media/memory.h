// SPDX-License-Identifier: Apache-2.0
// Memory for media: device memory whose start is a multiple of 128, and that the host can read and
// write, because media processing runs there.
#pragma once

#include "device/memory.h"

namespace anynpu::media {

// On a device, or on that of the thread's current context.
Result<void*> allocate(int32_t device, size_t bytes);
Result<void*> allocate(size_t bytes);

}  // namespace anynpu::media
