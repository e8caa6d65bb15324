// SPDX-License-Identifier: Apache-2.0
// Executes decoded instructions of one core until something else has to happen. Counts are exact:
// each instruction that completes counts once; one that traps does not count.
#pragma once

#include <cstdint>

namespace anynpu::npc {

struct Core;

enum class Stop : uint8_t {
  slice,     // the slice is used up; continue later
  service,   // an ecall: pc is after it, the number is in a7
  finished,  // the kernel returned
  trap,      // core.trap says why; pc is at the instruction
};

// Runs at least one instruction and about `slice` of them (the check is on taken branches).
Stop interpret(Core& core, uint64_t slice);

}  // namespace anynpu::npc
