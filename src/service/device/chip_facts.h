// SPDX-License-Identifier: Apache-2.0
// Properties of the simulated chip (base/soc.h): local memory sizes and architecture follow from
// its name; core counts and memory are those of the actual device. The table of chips comes from
// public documents; what they do not state is an error, never a guess.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/soc.h"

namespace anynpu::service {

// The number of an architecture: 2201 for Ascend910B and Ascend910_93, 2002 for Ascend310P ...
// 0: the name is not known.
int chip_architecture(std::string_view soc_name);
// Whether programs built for `soc_name` fit the current chip.
bool fits_chip(std::string_view soc_name);

// Whether its memory is HBM; DDR otherwise.
bool has_hbm(std::string_view soc_name);

// Fact 0 to 16 as text: a decimal number or a name, in the order of the interface.
// unsupported_feature: it is not known of this chip.
Result<std::string> chip_fact(int fact, std::string_view soc = soc_name());

// Which atomic operations work between devices or with the host: a mask by operation number.
// Copies that reduce are the only ones.
Result<uint32_t> atomic_capability(int operation);

}  // namespace anynpu::service
