// SPDX-License-Identifier: Apache-2.0
// Filling memory with a 32-bit value. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "device/stream.h"

namespace anynpu::device {

// Fills `count` words at `address`, which has `room` bytes of device or pinned memory.
Status fill_words(void* address, size_t room, uint32_t value, size_t count);
// Queued for device memory; host memory is filled at once.
Status fill_words_async(void* address, size_t room, uint32_t value, size_t count, Stream& stream);

}  // namespace anynpu::device
