// SPDX-License-Identifier: Apache-2.0
// Element types and storage formats. The numbers are AscendCL's (aclDataType, aclFormat), so that
// the front doors convert by a cast; -1 is "undefined" in both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace anynpu {

enum class DType : int32_t {
  undefined = -1,
  f32 = 0,
  f16 = 1,
  i8 = 2,
  i32 = 3,
  u8 = 4,
  i16 = 6,
  u16 = 7,
  u32 = 8,
  i64 = 9,
  u64 = 10,
  f64 = 11,
  boolean = 12,
  string = 13,
  c64 = 16,
  c128 = 17,
  bf16 = 27,
  i4 = 29,
  u1 = 30,
  c32 = 33,
  hif8 = 34,
  f8e5m2 = 35,
  f8e4m3 = 36,  // FN: no infinities, one NaN of each sign
  f8e8m0 = 37,
  f6e3m2 = 38,
  f6e2m3 = 39,
  f4e2m1 = 40,
  f4e1m2 = 41,
};

// Bits of one element; 0 for undefined and string.
size_t bits_of(DType type);
// Bytes of one element, rounded up (those of less than 8 bits count as 1); 0 for undefined and
// string.
size_t size_of(DType type);
// Bytes of `count` elements with sub-byte types packed.
size_t bytes_of(DType type, size_t count);
// "float32", "bfloat16", ...: the names the tools print.
std::string_view name_of(DType type);
bool is_floating(DType type);

enum class Format : int32_t {
  undefined = -1,
  nchw = 0,
  nhwc = 1,
  nd = 2,
  nc1hwc0 = 3,
  fractal_z = 4,
  nc1hwc0_c04 = 12,
  hwcn = 16,
  ndhwc = 27,
  fractal_nz = 29,
  ncdhw = 30,
  ndc1hwc0 = 32,
  fractal_z_3d = 33,
  nc = 35,
  ncl = 47,
};

std::string_view name_of(Format format);

}  // namespace anynpu
