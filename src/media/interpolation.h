// SPDX-License-Identifier: Apache-2.0
// What the numbers of programs for ways of scaling mean: another table for each interface, and in
// the first one another default for each generation of chips (docs/media.md has the reasons).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "media/support.h"
#include "pixel/resize.h"

namespace anynpu::media {

Result<pixel::Interpolation> interpolation_of(uint32_t number, Version version);
Result<pixel::Interpolation> interpolation_of(uint32_t number, Version version,
                                              std::string_view soc);

}  // namespace anynpu::media
