// SPDX-License-Identifier: Apache-2.0
// Which vector instructions kernels may use. The same source is compiled once per entry; which of
// them runs is decided here, at run time, and the kernel list says why the others do not.
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
