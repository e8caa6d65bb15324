// SPDX-License-Identifier: Apache-2.0
// DataBuffer: an address and a size that belong to the program; nothing is owned.
#pragma once

#include <cstddef>

#include "base/handle_table.h"

namespace anynpu {

struct DataBuffer {
  void* data = nullptr;
  size_t size = 0;
};

ANYNPU_HANDLE_TYPE(DataBuffer, data_buffer);

}  // namespace anynpu
