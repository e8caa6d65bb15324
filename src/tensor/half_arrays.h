// SPDX-License-Identifier: Apache-2.0
// Arrays of 16-bit floats to float32 and back, at the speed of memory; the same results as half.h,
// but for the payloads of NaNs.
#pragma once

#include <cstddef>

#include "tensor/dtype.h"

namespace anynpu {

// `from`: f16 or bf16. The arrays do not overlap.
void widen(DType from, const std::byte* in, float* out, size_t count);
// `to`: f16 or bf16; rounds to nearest even.
void narrow(DType to, const float* in, std::byte* out, size_t count);

}  // namespace anynpu
