// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/byte_planes.h"

#include <algorithm>
#include <cstring>

#include "ops/cpu/tile_int8.h"

namespace anynpu::ops {

namespace {

constexpr int64_t kChunk = 256;  // pixels of a row that are put together at a time

// Elements first, first + stride, ... of a row of `extent` elements, `pad` outside it.
void copy_row(const uint8_t* row, int64_t extent, int64_t first, int64_t stride, uint8_t pad,
              int64_t count, uint8_t* to) {
  const auto reaching = [&](int64_t place) {  // the first of ours at or past `place`
    return std::clamp<int64_t>((place - first + stride - 1) / stride, 0, count);
  };
  const int64_t begin = first >= 0 ? 0 : reaching(0);
  const int64_t end = first >= extent ? begin : std::max(begin, reaching(extent));
  std::memset(to, pad, static_cast<size_t>(begin));
  std::memset(to + end, pad, static_cast<size_t>(count - end));
  if (begin == end) return;
  const uint8_t* from = row + first + begin * stride;
  int64_t i = begin;
  if (stride == 1) {
    std::memcpy(to + begin, from, static_cast<size_t>(end - begin));
    return;
  }
  if (stride == 2) {
    for (; i + 17 <= end; i += 16, from += 32) {
      for (int64_t j = 0; j < 16; ++j) to[i + j] = from[2 * j];
    }
  }
  for (; i < end; ++i, from += stride) to[i] = *from;
}

}  // namespace

BytePlanes BytePlanes::of(const IntegerConv& conv, size_t folded) {
  const Window& w = conv.window;
  const size_t dims = w.dims(), direct = dims - folded;
  BytePlanes p;
  p.folded = static_cast<int64_t>(folded);
  p.group_in = conv.group_in, p.in_size = conv.in_size;
  p.in = w.in, p.out = w.out, p.stride = w.stride, p.grid = w.out;
  for (size_t d = 0; d < dims; ++d) (d < direct ? p.direct_taps : p.folded_taps) *= w.kernel[d];

  // Sources in order of channels, then taps.
  const int64_t sources = conv.group_in * p.folded_taps;
  p.quads = (sources + 3) / 4;
  for (int64_t source = 0; source < sources; ++source) {
    const size_t at = p.sources.size();
    p.sources.resize(at + 1 + dims);
    p.sources[at] = source / p.folded_taps * conv.in_size;
    int64_t tap = source % p.folded_taps;
    for (size_t d = dims; d-- > 0;) {
      p.sources[at + 1 + d] = -w.pad_begin[d];
      if (d < direct) continue;
      p.sources[at + 1 + d] += tap % w.kernel[d] * w.dilation[d];
      tap /= w.kernel[d];
    }
  }

  // For each dimension that is not folded: the remainders that taps have, and how far taps reach.
  std::vector<std::vector<int64_t>> remainders(direct);
  int64_t remainder_count = 1;
  for (size_t d = 0; d < direct; ++d) {
    for (int64_t k = 0; k < w.kernel[d]; ++k) {
      const int64_t remainder = k * w.dilation[d] % w.stride[d];
      if (std::find(remainders[d].begin(), remainders[d].end(), remainder) == remainders[d].end()) {
        remainders[d].push_back(remainder);
      }
    }
    p.grid[d] += (w.kernel[d] - 1) * w.dilation[d] / w.stride[d];
    remainder_count *= static_cast<int64_t>(remainders[d].size());
  }
  p.planes = remainder_count * p.quads;
  p.plane_pixels = element_count(p.grid);
  p.shifts.resize(static_cast<size_t>(remainder_count) * dims);
  for (int64_t i = 0; i < remainder_count; ++i) {
    int64_t rest = i;
    for (size_t d = direct; d-- > 0;) {
      const auto count = static_cast<int64_t>(remainders[d].size());
      p.shifts[static_cast<size_t>(i) * dims + d] =
          remainders[d][static_cast<size_t>(rest % count)];
      rest /= count;
    }
  }

  for (int64_t tap = 0; tap < p.direct_taps; ++tap) {
    int64_t rest = tap, index = 0, place = 1, pixel = 0, grid_place = 1;
    for (size_t d = dims; d-- > 0;) {
      if (d < direct) {
        const int64_t reach = rest % w.kernel[d] * w.dilation[d];
        rest /= w.kernel[d];
        const auto found =
            std::find(remainders[d].begin(), remainders[d].end(), reach % w.stride[d]);
        index += (found - remainders[d].begin()) * place;
        place *= static_cast<int64_t>(remainders[d].size());
        pixel += reach / w.stride[d] * grid_place;
      }
      grid_place *= p.grid[d];
    }
    for (int64_t quad = 0; quad < p.quads; ++quad) {
      p.offsets.push_back(((index * p.quads + quad) * p.plane_pixels + pixel) * 4);
    }
  }
  return p;
}

BytePlanes BytePlanes::of(const IntegerConv& conv) {
  BytePlanes best = of(conv, 0);
  for (size_t folded = 1; folded <= std::min(conv.window.dims(), kMostFolded); ++folded) {
    BytePlanes other = of(conv, folded);
    if (other.work(conv.group_out) < best.work(conv.group_out)) best = std::move(other);
  }
  return best;
}

int64_t BytePlanes::positions() const {
  int64_t last = 0, place = 1;
  for (size_t d = grid.size(); d-- > 0;) {
    last += (out[d] - 1) * place;
    place *= grid[d];
  }
  return last + 1;
}

// In processor cycles: 16 pixels of a step and channel are one instruction, and storing a tile's
// worth of pixels costs a few channels; a pixel of a plane takes about one to put together.
double BytePlanes::work(int64_t group_out) const {
  const auto products = static_cast<double>(steps()) * static_cast<double>(positions());
  return products * static_cast<double>(group_out + 1) / 16 +
         static_cast<double>(planes) * static_cast<double>(plane_pixels);
}

int64_t BytePlanes::weight_at(int64_t step, int64_t byte) const {
  const int64_t source = step % quads * 4 + byte, tap = step / quads;
  if (source >= group_in * folded_taps) return -1;
  return (source / folded_taps * direct_taps + tap) * folded_taps + source % folded_taps;
}

void BytePlanes::fill(const uint8_t* x, int64_t row, uint8_t pad, uint8_t flip, uint8_t* to) const {
  const size_t dims = grid.size();
  const int64_t width = grid.back(), plane_rows = plane_pixels / width;
  const int64_t plane = row / plane_rows, quad = plane % quads;
  const int64_t* shift = shifts.data() + static_cast<size_t>(plane / quads) * dims;
  const int64_t count = std::min<int64_t>(4, group_in * folded_taps - quad * 4);
  const uint8_t* rows[4] = {};
  int64_t extents[4] = {}, firsts[4] = {};
  for (int64_t s = 0; s < count; ++s) {
    const int64_t* source = sources.data() + (quad * 4 + s) * static_cast<int64_t>(dims + 1);
    int64_t rest = row % plane_rows, at = 0, place = in.back();
    bool inside = true;
    for (size_t d = dims - 1; d-- > 0;) {
      const int64_t i = rest % grid[d] * stride[d] + source[1 + d] + shift[d];
      rest /= grid[d];
      inside = inside && i >= 0 && i < in[d];
      at += i * place;
      place *= in[d];
    }
    rows[s] = inside ? x + source[0] + at : x;
    extents[s] = inside ? in.back() : 0;
    firsts[s] = source[dims] + shift[dims - 1];
  }
  to += row * width * 4;
  uint8_t chunk[4][kChunk];
  for (int64_t begin = 0; begin < width; begin += kChunk) {
    const int64_t length = std::min(kChunk, width - begin);
    const uint8_t* sources_of[4] = {};
    for (int64_t s = 0; s < count; ++s) {
      copy_row(rows[s], extents[s], firsts[s] + begin * stride.back(), stride.back(), pad, length,
               chunk[s]);
      sources_of[s] = chunk[s];
    }
    for (int64_t i = 0; i < length; i += 16, to += 64) {
      if (length - i >= 16) {
        interleave_four(sources_of, flip, to);
      } else {
        uint8_t last[64];
        interleave_four(sources_of, flip, last);
        std::memcpy(to, last, static_cast<size_t>(length - i) * 4);
      }
      for (int64_t s = 0; s < count; ++s) sources_of[s] += 16;
    }
  }
}

}  // namespace anynpu::ops
