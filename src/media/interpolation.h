// SPDX-License-Identifier: Apache-2.0
// The interpolation modes of programs by number: one table for each interface; in V1 the default
// depends on the generation of the chip (docs/media.md has the reasons).
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
