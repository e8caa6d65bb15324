// SPDX-License-Identifier: Apache-2.0
// Data buffers: an address and a size of the program's own memory. Nothing is read or owned.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

// Fails for a size that no memory has, such as a negative number.
Result<std::shared_ptr<DataBuffer>> make_data_buffer(void* data, size_t size);
Status update_data_buffer(Handle buffer, void* data, size_t size);
Result<DataBuffer> read_data_buffer(Handle buffer);

}  // namespace anynpu::service
