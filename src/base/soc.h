// SPDX-License-Identifier: Apache-2.0
// The chips that programs and atc name: "Ascend" + the name that npu-smi prints. AnyNPU runs the
// same way for all of them; the name decides only what programs and users are told.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace anynpu {

// Every name that --soc_version and ANYNPU_SOC accept.
std::span<const std::string_view> soc_names();

bool is_soc_name(std::string_view name);

// Ok, or a message that lists the accepted names.
Status check_soc_name(std::string_view name);

// False for the chips of Atlas 200/300/500 and Atlas 200/500 A2, which cannot run models with shape
// ranges (guide, 7.6.2); they support gears.
bool runs_shape_ranges(std::string_view name);

// True for 910B1 and what came after it, whose operators are not compiled on the fly unless a
// program asks for it. "Ascend910B" alone is an older chip.
bool builds_operators_beforehand(std::string_view name);

// ANYNPU_SOC when it is a known name, else Ascend310P3 and a warning in the log. Read once, at the
// first call; a null-terminated text that lives for ever.
std::string_view soc_name();

}  // namespace anynpu
