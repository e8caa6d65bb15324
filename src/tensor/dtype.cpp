// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

#include <array>

#include "base/align.h"

namespace anynpu {

namespace {

struct TypeRow {
  DType type;
  std::string_view name;
  size_t bits;
  bool floating;
};

constexpr std::array kTypes = {
    TypeRow{DType::f32, "float32", 32, true},
    TypeRow{DType::f16, "float16", 16, true},
    TypeRow{DType::i8, "int8", 8, false},
    TypeRow{DType::i32, "int32", 32, false},
    TypeRow{DType::u8, "uint8", 8, false},
    TypeRow{DType::i16, "int16", 16, false},
    TypeRow{DType::u16, "uint16", 16, false},
    TypeRow{DType::u32, "uint32", 32, false},
    TypeRow{DType::i64, "int64", 64, false},
    TypeRow{DType::u64, "uint64", 64, false},
    TypeRow{DType::f64, "float64", 64, true},
    TypeRow{DType::boolean, "bool", 8, false},
    TypeRow{DType::string, "string", 0, false},
    TypeRow{DType::c64, "complex64", 64, false},
    TypeRow{DType::c128, "complex128", 128, false},
    TypeRow{DType::bf16, "bfloat16", 16, true},
    TypeRow{DType::i4, "int4", 4, false},
    TypeRow{DType::u1, "uint1", 1, false},
    TypeRow{DType::c32, "complex32", 32, false},
    TypeRow{DType::hif8, "hifloat8", 8, true},
    TypeRow{DType::f8e5m2, "float8_e5m2", 8, true},
    TypeRow{DType::f8e4m3, "float8_e4m3fn", 8, true},
    TypeRow{DType::f8e8m0, "float8_e8m0", 8, true},
    TypeRow{DType::f6e3m2, "float6_e3m2", 6, true},
    TypeRow{DType::f6e2m3, "float6_e2m3", 6, true},
    TypeRow{DType::f4e2m1, "float4_e2m1", 4, true},
    TypeRow{DType::f4e1m2, "float4_e1m2", 4, true},
};

const TypeRow* find(DType type) {
  for (const auto& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

struct FormatRow {
  Format format;
  std::string_view name;
};

constexpr std::array kFormats = {
    FormatRow{Format::undefined, "UNDEFINED"},
    FormatRow{Format::nchw, "NCHW"},
    FormatRow{Format::nhwc, "NHWC"},
    FormatRow{Format::nd, "ND"},
    FormatRow{Format::nc1hwc0, "NC1HWC0"},
    FormatRow{Format::fractal_z, "FRACTAL_Z"},
    FormatRow{Format::nc1hwc0_c04, "NC1HWC0_C04"},
    FormatRow{Format::hwcn, "HWCN"},
    FormatRow{Format::ndhwc, "NDHWC"},
    FormatRow{Format::fractal_nz, "FRACTAL_NZ"},
    FormatRow{Format::ncdhw, "NCDHW"},
    FormatRow{Format::ndc1hwc0, "NDC1HWC0"},
    FormatRow{Format::fractal_z_3d, "FRACTAL_Z_3D"},
    FormatRow{Format::nc, "NC"},
    FormatRow{Format::ncl, "NCL"},
};

}  // namespace

size_t bits_of(DType type) {
  const TypeRow* row = find(type);
  return row ? row->bits : 0;
}

size_t size_of(DType type) { return ceil_div(bits_of(type), 8); }

size_t bytes_of(DType type, size_t count) { return ceil_div(bits_of(type) * count, 8); }

std::string_view name_of(DType type) {
  const TypeRow* row = find(type);
  return row ? row->name : "undefined";
}

bool is_floating(DType type) {
  const TypeRow* row = find(type);
  return row && row->floating;
}

std::string_view name_of(Format format) {
  for (const auto& row : kFormats) {
    if (row.format == format) return row.name;
  }
  return "UNKNOWN";
}

}  // namespace anynpu
