// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/isa.h"

namespace anynpu::ops {

namespace {

#if defined(__x86_64__)
// The compiler's own check covers the system's support (XGETBV) as well as the processor's.
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && has_avx2();
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return "baseline";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "?";
}

Status check_isa(Isa isa) {
  static const bool avx2 = has_avx2(), avx512 = has_avx512();
  const bool present =
      isa == Isa::baseline || (isa == Isa::avx2 && avx2) || (isa == Isa::avx512 && avx512);
  return present ? Status{}
                 : fail(Code::unsupported_feature, "the processor lacks {}", name_of(isa));
}

}  // namespace anynpu::ops
