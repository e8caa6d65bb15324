// SPDX-License-Identifier: Apache-2.0
#include "pixel/chroma.h"

#include "base/clones.h"

namespace anynpu::pixel {
namespace {

ANYNPU_CLONES("avx2")
void interleave_row(const uint8_t* __restrict a, const uint8_t* __restrict b, size_t n,
                    uint8_t* __restrict to) {
  for (size_t i = 0; i < n; ++i) {
    to[2 * i] = a[i];
    to[2 * i + 1] = b[i];
  }
}

ANYNPU_CLONES("avx2")
void take_row_apart(const uint8_t* __restrict pairs, size_t n, uint8_t* __restrict a,
                    uint8_t* __restrict b) {
  for (size_t i = 0; i < n; ++i) {
    a[i] = pairs[2 * i];
    b[i] = pairs[2 * i + 1];
  }
}

}  // namespace

void interleave(const uint8_t* a, const uint8_t* b, size_t n, uint8_t* to) {
  interleave_row(a, b, n, to);
}

void take_apart(const uint8_t* pairs, size_t n, uint8_t* a, uint8_t* b) {
  take_row_apart(pairs, n, a, b);
}

}  // namespace anynpu::pixel
