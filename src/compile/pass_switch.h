// SPDX-License-Identifier: Apache-2.0
// Which passes of the compiler run: the grammar of --fusion_switch_file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu::compile {

// In a list of passes that are off: all passes, even those that a file cannot switch off.
constexpr std::string_view kAllPasses = "ALL";

// {"Switch":{"GraphFusion":{"Pass":"off"},"UBFusion":{...}}} or lines "Pass:off": the passes of
// passes.def that are off. The card's pass names are mapped to ours that do the same; its other
// passes have no effect here. "ALL" means every pass that can be switched off by name.
Result<std::vector<std::string>> parse_fusion_switch(std::string_view text);

bool is_on(const std::vector<std::string>& passes_off, std::string_view pass);

}  // namespace anynpu::compile
