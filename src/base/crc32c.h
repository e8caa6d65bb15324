// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli): the checksum of model files. Uses the CPU's instruction where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anynpu {

// `before` is the checksum of the preceding bytes; 0 to start.
uint32_t crc32c(std::span<const std::byte> data, uint32_t before = 0);

}  // namespace anynpu
