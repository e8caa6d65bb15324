// SPDX-License-Identifier: Apache-2.0
// The version of AnyNPU.
#pragma once

#include <string_view>

namespace anynpu {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace anynpu
