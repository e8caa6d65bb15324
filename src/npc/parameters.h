// SPDX-License-Identifier: Apache-2.0
// What a launch gives for each parameter against what the kernel takes, as far as debug information
// (-g) tells; without it numbers and types are not known and words are taken as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"

namespace anynpu::npc {

struct Image;
struct LaunchRequest;

// invalid_argument: another number of parameters, one of more than 4 bytes, a type that does not
// fit. An integer given for a float is its bits; one whose bits are no normal float is refused.
Status check_parameters(const Image& image, const LaunchRequest& request);

// The words of a checked request; integers narrower than a word extended as the kernel expects.
std::vector<uint32_t> fitted_parameters(const Image& image, const LaunchRequest& request);

}  // namespace anynpu::npc
