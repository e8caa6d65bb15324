// SPDX-License-Identifier: Apache-2.0
// Chroma rows: from two planes to interleaved pairs and back, `n` samples of each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anynpu::pixel {

// to: a[0] b[0] a[1] b[1] ...
void interleave(const uint8_t* a, const uint8_t* b, size_t n, uint8_t* to);
void take_apart(const uint8_t* pairs, size_t n, uint8_t* a, uint8_t* b);

}  // namespace anynpu::pixel
