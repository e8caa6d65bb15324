// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of a launch against the kernel's parameters, as far as debug information
// (-g) describes them; without it number and types are unknown and words are passed as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"

namespace anynpu::npc {

struct Image;
struct LaunchRequest;

// invalid_argument: wrong number of parameters, one of more than 4 bytes, wrong type. An integer
// passed for a float is taken as its bits, and refused if these are not a normal float.
Status check_parameters(const Image& image, const LaunchRequest& request);

// The words of a checked request; integers narrower than a word extended as the kernel expects.
std::vector<uint32_t> fitted_parameters(const Image& image, const LaunchRequest& request);

}  // namespace anynpu::npc
