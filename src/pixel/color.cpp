// SPDX-License-Identifier: Apache-2.0
#include "pixel/color.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "pixel/resize.h"

namespace anynpu::pixel {
namespace {

constexpr int kMatrixBits = 14;

struct FixedMatrix {
  int32_t m[9];
  int32_t bias[3];
};

FixedMatrix fixed(const Matrix& matrix) {
  FixedMatrix out;
  for (int i = 0; i < 9; ++i)
    out.m[i] = static_cast<int32_t>(std::lround(matrix.m[i] * (1 << kMatrixBits)));
  for (int i = 0; i < 3; ++i)
    out.bias[i] = static_cast<int32_t>(std::lround(matrix.bias[i] * (1 << kMatrixBits))) +
                  (1 << (kMatrixBits - 1));
  return out;
}

// kr and kb: how much red and blue count in Y. Narrow: Y has 16..235 and chroma 16..240.
ColorMatrix make_matrix(double kr, double kb, bool narrow) {
  const double kg = 1 - kr - kb;
  const double y = narrow ? 219.0 / 255 : 1;
  const double c = narrow ? 224.0 / 255 : 1;
  const double low = narrow ? 16 : 0;
  ColorMatrix out;
  out.to_yuv.m = {kr * y,
                  kg * y,
                  kb * y,
                  -kr / (2 * (1 - kb)) * c,
                  -kg / (2 * (1 - kb)) * c,
                  0.5 * c,
                  0.5 * c,
                  -kg / (2 * (1 - kr)) * c,
                  -kb / (2 * (1 - kr)) * c};
  out.to_yuv.bias = {low, 128, 128};
  const double rv = 2 * (1 - kr) / c;
  const double bu = 2 * (1 - kb) / c;
  const double gu = -2 * kb * (1 - kb) / kg / c;
  const double gv = -2 * kr * (1 - kr) / kg / c;
  out.to_rgb.m = {1 / y, 0, rv, 1 / y, gu, gv, 1 / y, bu, 0};
  out.to_rgb.bias = {-low / y - 128 * rv, -low / y - 128 * (gu + gv), -low / y - 128 * bu};
  return out;
}

uint8_t clipped(int32_t value) {
  return static_cast<uint8_t>(std::clamp(value >> kMatrixBits, 0, 255));
}

// One row, each component by itself: Y U V or R G B, and alpha.
struct RowBuffers {
  std::vector<uint8_t> part[4];
  explicit RowBuffers(size_t width) {
    for (auto& p : part) p.resize(width + 1);
  }
};

void apply(const FixedMatrix& m, RowBuffers& row, size_t width) {
  uint8_t* a = row.part[0].data();
  uint8_t* b = row.part[1].data();
  uint8_t* c = row.part[2].data();
  for (size_t x = 0; x < width; ++x) {
    const int32_t i = a[x], j = b[x], k = c[x];
    a[x] = clipped(m.m[0] * i + m.m[1] * j + m.m[2] * k + m.bias[0]);
    b[x] = clipped(m.m[3] * i + m.m[4] * j + m.m[5] * k + m.bias[1]);
    c[x] = clipped(m.m[6] * i + m.m[7] * j + m.m[8] * k + m.bias[2]);
  }
}

void load_chroma(const Format& f, const uint8_t* pairs, size_t width, RowBuffers& row) {
  const uint8_t* u = pairs + f.at[1];
  const uint8_t* v = pairs + f.at[2];
  uint8_t* to_u = row.part[1].data();
  uint8_t* to_v = row.part[2].data();
  if (f.shift_x == 0) {
    for (size_t x = 0; x < width; ++x) to_u[x] = u[2 * x], to_v[x] = v[2 * x];
    return;
  }
  for (size_t x = 0; x < width; x += 2) {  // rows have room for one sample more
    to_u[x] = to_u[x + 1] = u[x];
    to_v[x] = to_v[x + 1] = v[x];
  }
}

void load(const Picture& from, uint32_t y, RowBuffers& row) {
  const Format& f = *from.format;
  const size_t width = from.width;
  const uint8_t* first = from.plane(0).row(y);
  if (f.packing == Packing::planar) {
    for (int c = 0; c < 3; ++c) std::memcpy(row.part[c].data(), from.plane(f.at[c]).row(y), width);
  } else if (f.packing == Packing::semiplanar) {
    std::memcpy(row.part[0].data(), first, width);
    if (f.family == Family::yuv) {
      load_chroma(f, from.plane(1).row(y >> f.shift_y), width, row);
    } else {
      std::fill_n(row.part[1].data(), width, uint8_t{128});
      std::fill_n(row.part[2].data(), width, uint8_t{128});
    }
  } else if (f.packing == Packing::packed_422) {
    for (size_t x = 0; x < width; ++x) {
      const uint8_t* pair = first + x / 2 * 4;
      row.part[0][x] = pair[f.at[0] + (x & 1) * 2];
      row.part[1][x] = pair[f.at[1]];
      row.part[2][x] = pair[f.at[2]];
    }
  } else {
    const int parts = f.has_alpha() ? 4 : 3;
    for (int c = 0; c < parts; ++c) {
      const uint8_t* source = first + f.at[c];
      uint8_t* target = row.part[c].data();
      const size_t step = f.bytes;
      for (size_t x = 0; x < width; ++x) target[x] = source[x * step];
    }
  }
}

// Chroma of one or two rows into the pairs of a plane.
void store_chroma(const Format& f, const RowBuffers& a, const RowBuffers& b, size_t width,
                  uint8_t* pairs) {
  for (int c = 1; c < 3; ++c) {
    const uint8_t* p = a.part[c].data();
    const uint8_t* q = b.part[c].data();
    uint8_t* to = pairs + f.at[c];
    if (f.shift_x == 0) {
      for (size_t x = 0; x < width; ++x) to[2 * x] = static_cast<uint8_t>((p[x] + q[x] + 1) / 2);
      continue;
    }
    for (size_t x = 0; x + 1 < width; x += 2)
      to[x] = static_cast<uint8_t>((p[x] + p[x + 1] + q[x] + q[x + 1] + 2) / 4);
    if (width & 1) to[width - 1] = static_cast<uint8_t>((p[width - 1] + q[width - 1] + 1) / 2);
  }
}

// Everything but the second plane of a semiplanar picture.
void store(const Picture& to, uint32_t y, const RowBuffers& row) {
  const Format& f = *to.format;
  const size_t width = to.width;
  uint8_t* first = to.plane(0).row(y);
  if (f.packing == Packing::planar) {
    for (int c = 0; c < 3; ++c) std::memcpy(to.plane(f.at[c]).row(y), row.part[c].data(), width);
  } else if (f.packing == Packing::semiplanar) {
    std::memcpy(first, row.part[0].data(), width);
  } else if (f.packing == Packing::packed_422) {
    for (size_t x = 0; x < width; x += 2) {
      const size_t next = x + 1 < width ? x + 1 : x;
      uint8_t* pair = first + x * 2;
      pair[f.at[0]] = row.part[0][x];
      pair[f.at[0] + 2] = row.part[0][next];
      for (int c = 1; c < 3; ++c)
        pair[f.at[c]] = static_cast<uint8_t>((row.part[c][x] + row.part[c][next] + 1) / 2);
    }
  } else {
    const int parts = f.has_alpha() ? 4 : 3;
    for (int c = 0; c < parts; ++c) {
      const uint8_t* source = row.part[c].data();
      uint8_t* target = first + f.at[c];
      const size_t step = f.bytes;
      for (size_t x = 0; x < width; ++x) target[x * step] = source[x];
    }
  }
}

class Converter {
 public:
  Converter(const Picture& from, const Picture& to, const ColorMatrix& matrix, uint8_t alpha)
      : from_(from), to_(to), alpha_(alpha) {
    const bool from_rgb = from.format->family == Family::rgb;
    const bool to_rgb = to.format->family == Family::rgb;
    if (from_rgb == to_rgb) return;
    changes_ = true;
    matrix_ = fixed(to_rgb ? matrix.to_rgb : matrix.to_yuv);
  }

  // Pairs of rows [begin, end): chroma of two rows may become one.
  void run(size_t begin, size_t end) const {
    RowBuffers rows[2] = {RowBuffers(from_.width), RowBuffers(from_.width)};
    for (RowBuffers& row : rows) std::fill(row.part[3].begin(), row.part[3].end(), alpha_);
    const Format& f = *to_.format;
    const bool chroma = f.packing == Packing::semiplanar && f.family == Family::yuv;
    for (auto pair = static_cast<uint32_t>(begin); pair < end; ++pair) {
      const uint32_t y = pair * 2;
      const int count = y + 1 < from_.height ? 2 : 1;
      for (int i = 0; i < count; ++i) {
        load(from_, y + i, rows[i]);
        if (changes_) apply(matrix_, rows[i], from_.width);
        store(to_, y + i, rows[i]);
      }
      if (!chroma) continue;
      if (f.shift_y)
        store_chroma(f, rows[0], rows[count - 1], to_.width, to_.plane(1).row(pair));
      else
        for (int i = 0; i < count; ++i)
          store_chroma(f, rows[i], rows[i], to_.width, to_.plane(1).row(y + i));
    }
  }

 private:
  const Picture& from_;
  const Picture& to_;
  uint8_t alpha_;
  bool changes_ = false;
  FixedMatrix matrix_{};
};

}  // namespace

const ColorMatrix& color_matrix(uint32_t number) {
  static const ColorMatrix matrices[kColorMatrices] = {
      make_matrix(0.299, 0.114, false),   make_matrix(0.299, 0.114, true),
      make_matrix(0.2126, 0.0722, false), make_matrix(0.2126, 0.0722, true),
      make_matrix(0.2627, 0.0593, false), make_matrix(0.2627, 0.0593, true),
  };
  return matrices[number < kColorMatrices ? number : 0];
}

void convert(const Picture& from, const Picture& to, const ColorMatrix& matrix, uint8_t alpha) {
  if (from.format == to.format) {
    for (int i = 0; i < from.planes(); ++i)
      resize_plane(from.plane(i), to.plane(i), Interpolation::nearest);
    return;
  }
  const Converter converter(from, to, matrix, alpha);
  constexpr size_t kPairsApart = 32;
  ThreadPool::instance().parallel_for((from.height + 1) / 2, kPairsApart,
                                      [&](size_t begin, size_t end) { converter.run(begin, end); });
}

}  // namespace anynpu::pixel
