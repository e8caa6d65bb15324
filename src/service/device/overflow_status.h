// SPDX-License-Identifier: Apache-2.0
// The overflow status of a device: bits that operators of models made with `atc --status_check=1`
// have set since the last reset. Both calls are tasks of the stream.
#pragma once

#include <cstddef>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

// Writes 64 bytes to `to`: the bits, then zeros.
Status read_overflow_status(Handle stream, void* to, size_t size);
Status reset_overflow_status(Handle stream);

}  // namespace anynpu::service
