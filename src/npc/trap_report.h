// SPDX-License-Identifier: Apache-2.0
// The text a program prints after a kernel was stopped: for each core that trapped the reason and
// the call stack, with function, file and line where the object was compiled with -g.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anynpu::npc {

struct Core;

// "core 3", or "block 11 on core 3" where blocks take turns.
std::string place_of(const Core& core);
// The call stack of a core at `pc`, for checkers: "file<tab>line<tab>function" per line, the
// innermost first.
std::string call_lines(const Core& core, uint32_t pc);
std::string trap_report(int cluster, std::string_view kernel, const std::vector<Core>& cores);

}  // namespace anynpu::npc
