// SPDX-License-Identifier: Apache-2.0
#include "pixel/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "pixel/stretch.h"

namespace anynpu::pixel {
namespace {

// Below this many output samples a second thread costs more than it brings.
constexpr size_t kSplitSamples = 1 << 16;

// Output rows [begin, end). Stretched source rows are kept, so that each is made once.
void smooth_rows(const Plane& from, const Plane& to, const Axis& across, const Axis& down,
                 size_t begin, size_t end) {
  const size_t samples = size_t{to.width} * to.channels;
  const int taps = down.taps;
  const ScaleRow scale =
      from.height / 2 >= to.height ? choose_scale(across, from.width, to.channels) : nullptr;
  if (scale) {
    for (size_t y = begin; y < end; ++y) {
      const auto first = static_cast<uint32_t>(down.first[y]);
      scale(from.row(first), from.row(first + 1), across, &down.weight[y * taps], to.width,
            to.row(static_cast<uint32_t>(y)));
    }
    return;
  }
  const StretchRow stretch = choose_stretch(across, from.width, to.channels);
  const size_t apart = samples + 1;
  std::vector<int32_t> kept(apart * taps);
  std::vector<int32_t> holds(taps, -1);  // which source row a place holds
  for (size_t y = begin; y < end; ++y) {
    const int32_t* index = &down.index[y * taps];
    const int32_t* rows[4] = {};
    for (int k = 0; k < taps; ++k) {
      const int place = index[k] % taps;
      if (holds[place] != index[k]) {
        stretch(from.row(static_cast<uint32_t>(index[k])), across, to.width, &kept[place * apart]);
        holds[place] = index[k];
      }
      rows[k] = &kept[place * apart];
    }
    mix_rows(rows, &down.weight[y * taps], taps, samples, to.row(static_cast<uint32_t>(y)));
  }
}

template <int channels>
void pick_row(const uint8_t* from, const uint32_t* index, uint32_t width, uint8_t* to) {
  for (uint32_t x = 0; x < width; ++x) {
    const uint8_t* sample = from + size_t{index[x]} * channels;
    for (int c = 0; c < channels; ++c) to[x * channels + c] = sample[c];
  }
}

// The source position of each output position, in OpenCV's arithmetic.
std::vector<uint32_t> nearest_axis(uint32_t from, uint32_t to) {
  std::vector<uint32_t> axis(to);
  const double scale = 1.0 / (static_cast<double>(to) / from);
  for (uint32_t i = 0; i < to; ++i)
    axis[i] = std::min(static_cast<uint32_t>(std::floor(i * scale)), from - 1);
  return axis;
}

void nearest_rows(const Plane& from, const Plane& to, const std::vector<uint32_t>& across,
                  const std::vector<uint32_t>& down, size_t begin, size_t end) {
  static constexpr decltype(&pick_row<1>) pick[] = {pick_row<1>, pick_row<2>, pick_row<3>,
                                                    pick_row<4>};
  for (size_t y = begin; y < end; ++y) {
    pick[to.channels - 1](from.row(down[y]), across.data(), to.width,
                          to.row(static_cast<uint32_t>(y)));
  }
}

template <typename Rows>
void over_rows(const Plane& to, const Rows& rows) {
  const size_t row = size_t{to.width} * to.channels;
  if (row * to.height < kSplitSamples) return rows(0, to.height);
  ThreadPool::instance().parallel_for(to.height, kSplitSamples / (row + 1) + 1, rows);
}

}  // namespace

void resize_plane(const Plane& from, const Plane& to, Interpolation how) {
  if (from.width == to.width && from.height == to.height) {
    for (uint32_t y = 0; y < to.height; ++y)
      std::memcpy(to.row(y), from.row(y), size_t{to.width} * to.channels);
    return;
  }
  const bool smooth = how == Interpolation::bilinear || how == Interpolation::high_order ||
                      how == Interpolation::bilinear_tensorflow;
  if (!smooth) {
    const auto across = nearest_axis(from.width, to.width);
    const auto down = nearest_axis(from.height, to.height);
    return over_rows(
        to, [&](size_t begin, size_t end) { nearest_rows(from, to, across, down, begin, end); });
  }
  const Axis across = make_axis(from.width, to.width, how);
  const Axis down = make_axis(from.height, to.height, how);
  over_rows(to, [&](size_t begin, size_t end) { smooth_rows(from, to, across, down, begin, end); });
}

}  // namespace anynpu::pixel
