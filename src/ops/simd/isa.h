// SPDX-License-Identifier: Apache-2.0
// Instruction sets of vector kernels. The same source is compiled once per set; check_isa() checks
// at run time whether the processor has it. Outside x86-64 there is only the baseline.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace anynpu::ops {

enum class Isa : uint8_t {
  baseline,  // what every x86-64 (or other) processor has
  avx2,      // AVX2 and FMA
  avx512,    // AVX-512 F, VL, DQ, BW
};

std::string_view name_of(Isa isa);
// Ok when the processor and the system offer it; otherwise a reason.
Status check_isa(Isa isa);

}  // namespace anynpu::ops
