// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/int8_planes.h"

#include <algorithm>

#include "base/align.h"
#include "ops/conv/int8_tile.h"

namespace anynpu::ops::conv {

namespace {

// The same convolution with neighbouring dimensions as one where neither has a window.
IntegerConv merged(const IntegerConv& conv) {
  const Window& w = conv.window;
  const auto plain = [&](size_t d) {
    return w.kernel[d] == 1 && w.stride[d] == 1 && w.pad_begin[d] == 0 && w.pad_end[d] == 0;
  };
  IntegerConv out = conv;
  Window& to = out.window = {};
  for (size_t d = 0; d < w.dims(); ++d) {
    if (d > 0 && plain(d - 1) && plain(d)) {
      to.in.back() *= w.in[d], to.out.back() *= w.out[d];
      continue;
    }
    to.in.push_back(w.in[d]), to.out.push_back(w.out[d]);
    to.kernel.push_back(w.kernel[d]), to.stride.push_back(w.stride[d]);
    to.dilation.push_back(w.dilation[d]);
    to.pad_begin.push_back(w.pad_begin[d]), to.pad_end.push_back(w.pad_end[d]);
  }
  return out;
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
  p.quads = ceil_div(sources, 4);
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
  p.positions = 1, p.dense = true;
  for (size_t d = dims, place = 1; d-- > 0; place *= static_cast<size_t>(p.grid[d])) {
    p.positions += (p.out[d] - 1) * static_cast<int64_t>(place);
    p.dense = p.dense && (d == 0 || p.grid[d] == p.out[d]);
  }
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

BytePlanes BytePlanes::of(const IntegerConv& given) {
  const IntegerConv conv = merged(given);
  BytePlanes best = of(conv, 0);
  for (size_t folded = 1; folded <= std::min(conv.window.dims(), kMostFolded); ++folded) {
    BytePlanes other = of(conv, folded);
    if (other.work(conv.group_out) < best.work(conv.group_out)) best = std::move(other);
  }
  return best;
}

// In processor cycles: 16 pixels of a step and channel are one instruction, and storing a tile's
// worth of pixels costs a few channels; a pixel of a plane takes about one to put together.
double BytePlanes::work(int64_t group_out) const {
  const auto products = static_cast<double>(steps()) * static_cast<double>(positions);
  return products * static_cast<double>(group_out + 1) / 16 +
         static_cast<double>(planes) * static_cast<double>(plane_pixels);
}

int64_t BytePlanes::weight_at(int64_t step, int64_t byte) const {
  const int64_t source = step % quads * 4 + byte, tap = step / quads;
  if (source >= group_in * folded_taps) return -1;
  return (source / folded_taps * direct_taps + tap) * folded_taps + source % folded_taps;
}

void BytePlanes::fill(const uint8_t* x, int64_t begin, int64_t end, uint8_t pad, uint8_t flip,
                      uint8_t* to) const {
  const size_t dims = grid.size();
  const int64_t width = grid.back(), plane_rows = plane_pixels / width;
  const auto source_step = static_cast<int64_t>(dims + 1);
  to += begin * width * 4;
  for (int64_t row = begin; row < end;) {
    const int64_t plane = row / plane_rows, quad = plane % quads;
    const int64_t* shift = shifts.data() + static_cast<size_t>(plane / quads) * dims;
    const int64_t* first = sources.data() + quad * 4 * source_step;
    const int64_t count = std::min<int64_t>(4, group_in * folded_taps - quad * 4);
    const int64_t stop = std::min(end, (plane + 1) * plane_rows);
    for (; row < stop; ++row, to += width * 4) {
      Conv8Source four[4];
      for (int64_t s = 0; s < count; ++s) {
        const int64_t* source = first + s * source_step;
        int64_t rest = row - plane * plane_rows, at = 0, place = in.back();
        bool inside = true;
        for (size_t d = dims - 1; d-- > 0;) {
          const int64_t position = d == 0 ? rest : rest % grid[d];
          if (d > 0) rest /= grid[d];
          const int64_t i = position * stride[d] + source[1 + d] + shift[d];
          inside = inside && i >= 0 && i < in[d];
          at += i * place;
          place *= in[d];
        }
        four[s] = {inside ? x + source[0] + at : x, inside ? in.back() : 0,
                   source[dims] + shift[dims - 1]};
      }
      interleave_conv8_row(four, stride.back(), pad, flip, width, to);
    }
  }
}

}  // namespace anynpu::ops::conv
