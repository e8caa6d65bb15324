// SPDX-License-Identifier: Apache-2.0
// Strings in device memory, read with every check.
#pragma once

#include <cstdint>
#include <string>

namespace anynpu::npc {

struct Core;

// The string at `address`, at most `most` bytes of it; "(null)" for 0. If memory ends before the
// string does, the readable part and "(bad address)".
std::string guest_text(const Core& core, uint32_t address, uint32_t most = 1 << 16);

}  // namespace anynpu::npc
