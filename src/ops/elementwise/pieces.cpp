// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/pieces.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::elementwise {

namespace {

// Joins neighbouring dimensions.
void add_extent(Source& s, int64_t extent, int64_t step) {
  if (extent == 1) return;
  if (!s.extent.empty() && s.stride.back() == step * extent) {
    s.extent.back() *= extent;
    s.stride.back() = step;
  } else {
    s.extent.push_back(extent);
    s.stride.push_back(step);
  }
}
void finish(Source& s) {
  while (s.extent.size() < 2) {
    s.extent.insert(s.extent.begin(), 1);
    s.stride.insert(s.stride.begin(), 0);
  }
  s.rows = s.extent[s.extent.size() - 2];
  s.inner = s.extent.back();
}
Source element_source(const Operand& operand) {
  Source s;
  s.type = operand.dtype;
  s.bytes = size_of(s.type);
  s.widens = carried_type(s.type) != s.type;
  s.single = element_count(operand.shape) == 1;
  return s;
}

// Elements [at, at + count) of the output's order.
template <typename U>
void lay_out(const Source& s, const U* base, int64_t at, U* out, int64_t count) {
  const size_t last = s.extent.size() - 1;
  const int64_t row_step = s.stride[last - 1];
  while (count > 0) {
    int64_t column = at % s.inner, row = at / s.inner, index = row / s.rows, offset = 0;
    row %= s.rows;
    for (size_t d = last - 1; d-- > 0;) {
      offset += index % s.extent[d] * s.stride[d];
      index /= s.extent[d];
    }
    offset += row * row_step;
    if (row_step == 0 && s.stride[last] == 1 && column == 0 && s.inner < kPiece) {
      // One short row again and again: copied from itself.
      const int64_t all = std::min(count, (s.rows - row) * s.inner);
      int64_t done = std::min(all, s.inner);
      std::copy_n(base + offset, done, out);
      for (; done < all; done += std::min(done, all - done))
        std::copy_n(out, std::min(done, all - done), out + done);
      out += all, at += all, count -= all;
      continue;
    }
    for (; row < s.rows && count > 0; ++row, offset += row_step, column = 0) {
      const int64_t run = std::min(count, s.inner - column);
      if (s.stride[last] == 0) {
        std::fill_n(out, run, base[offset]);
      } else {
        std::copy_n(base + offset + column, run, out);
      }
      out += run, at += run, count -= run;
    }
  }
}

}  // namespace

void lay_out_bytes(const Source& s, const std::byte* base, int64_t at, std::byte* out,
                   int64_t count) {
  const auto as = [&](auto zero) {
    using U = decltype(zero);
    lay_out(s, reinterpret_cast<const U*>(base), at, reinterpret_cast<U*>(out), count);
  };
  switch (s.bytes) {
    case 1:
      return as(uint8_t{});
    case 2:
      return as(uint16_t{});
    case 4:
      return as(uint32_t{});
    default:
      return as(uint64_t{});
  }
}

Source source_of(const Operand& operand, const Shape& out) {
  Source s = element_source(operand);
  s.dense = element_count(operand.shape) == element_count(out);
  const auto strides = strides_of(operand.shape);
  const size_t lead = out.size() - operand.shape.size();
  for (size_t d = 0; d < out.size(); ++d) {
    const bool repeats = d < lead || operand.shape[d - lead] == 1;
    add_extent(s, out[d], repeats ? 0 : strides[d - lead]);
  }
  finish(s);
  return s;
}

Source channel_source(const Operand& operand, const Shape& out) {
  Source s = element_source(operand);
  s.single = false;
  const int64_t blocks = ceil_div(out[1], kBlock);
  add_extent(s, out[0], operand.shape[0] == 1 ? 0 : blocks * kBlock);
  add_extent(s, blocks, kBlock);
  add_extent(s, element_count({out.begin() + 2, out.end()}), 0);
  add_extent(s, kBlock, 1);
  finish(s);
  return s;
}

const std::byte* piece_of(const Source& s, const std::byte* base, int64_t at, int64_t count,
                          std::byte* place) {
  const std::byte* from = base + static_cast<size_t>(at) * s.bytes;
  if (s.dense && !s.widens) return from;
  if (!s.widens && s.stride.back() == 1 && at % s.inner + count <= s.inner) {  // part of a row
    int64_t index = at / s.inner, offset = at % s.inner;
    for (size_t d = s.extent.size() - 1; d-- > 0; index /= s.extent[d])
      offset += index % s.extent[d] * s.stride[d];
    return base + static_cast<size_t>(offset) * s.bytes;
  }
  if (!s.widens) {
    lay_out_bytes(s, base, at, place, count);
    return place;
  }
  std::byte narrow_elements[static_cast<size_t>(kPiece) * 2];
  if (!s.dense) {
    lay_out_bytes(s, base, at, narrow_elements, count);
    from = narrow_elements;
  }
  widen(s.type, from, reinterpret_cast<float*>(place), static_cast<size_t>(count));
  return place;
}

}  // namespace anynpu::ops::elementwise
