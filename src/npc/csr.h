// SPDX-License-Identifier: Apache-2.0
// Control registers of a core: float state (fflags, frm, fcsr), counters (cycle, time, instret and
// their high words), mhartid (CoreID) and 0xfc0 (CoreNum).
#pragma once

#include <cstdint>

namespace anynpu::npc {

struct Core;
struct Decoded;

// Runs one csr instruction. The counters of the current turn are passed in, because they are not in
// the core yet. False for an unknown register, or a write to a read-only one.
bool run_csr(Core& core, const Decoded& d, uint64_t turn_instructions, uint64_t turn_cycles);

}  // namespace anynpu::npc
