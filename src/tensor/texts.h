// SPDX-License-Identifier: Apache-2.0
// The strings of a tensor in one block, in AscendCL's layout: {offset, length} in 64 bits for each,
// then the characters. Offsets count from the start of the block.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu {

std::vector<std::byte> pack_texts(std::span<const std::string_view> texts);

// Views into `bytes`. Fails when a head points outside.
Result<std::vector<std::string_view>> unpack_texts(std::span<const std::byte> bytes, size_t count);

}  // namespace anynpu
