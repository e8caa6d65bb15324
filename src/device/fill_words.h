// SPDX-License-Identifier: Apache-2.0
// Memory filled with a value of 32 bits. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "device/stream.h"

namespace anynpu::device {

// `count` words at `address`, which has `room` bytes; memory of ours, on a device or pinned.
Status fill_words(void* address, size_t room, uint32_t value, size_t count);
// Queued for memory of a device; memory of the host is filled at once.
Status fill_words_async(void* address, size_t room, uint32_t value, size_t count, Stream& stream);

}  // namespace anynpu::device
