// SPDX-License-Identifier: Apache-2.0
// Samples beyond the edge of a picture.
#pragma once

#include "pixel/transform.h"

namespace anynpu::pixel {

// The position that `at` reads from in a line of n samples, if outside; -1 for a constant.
int64_t inside_of(int64_t at, int64_t n, BorderKind kind);
// The constant of channel c of plane `plane`.
uint8_t constant_of(const Format& format, const Border& border, size_t plane, uint32_t c);

}  // namespace anynpu::pixel
