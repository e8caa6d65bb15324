// SPDX-License-Identifier: Apache-2.0
#include "pixel/picture.h"

#include <cstring>

#include "base/align.h"
#include "trace/trace.h"

namespace anynpu::pixel {
namespace {

uint32_t shifted_up(uint32_t value, int shift) { return (value + (1u << shift) - 1) >> shift; }

// Bytes from row to row of the second plane of a semiplanar picture.
size_t chroma_stride(const Format& format, size_t width_stride) {
  return format.shift_x ? width_stride : 2 * width_stride;
}

}  // namespace

int Picture::planes() const {
  if (format->packing == Packing::planar) return 3;
  return format->packing == Packing::semiplanar && format->family == Family::yuv ? 2 : 1;
}

Plane Picture::plane(int index) const {
  const size_t first = size_t{width_stride} * height_stride;
  if (format->packing == Packing::planar)
    return {data + first * index, width_stride, width, height, 1};
  if (index == 0) {
    // Packed 4:2:2 is seen as pairs of pixels.
    if (format->packing == Packing::packed_422)
      return {data, width_stride, shifted_up(width, 1), height, 4};
    return {data, width_stride, width, height, format->bytes};
  }
  return {data + first, chroma_stride(*format, width_stride), shifted_up(width, format->shift_x),
          shifted_up(height, format->shift_y), 2};
}

std::vector<Plane> Picture::planes_of(const Rect& region) const {
  std::vector<Plane> list;
  for (int i = 0; i < planes(); ++i) {
    Plane plane = this->plane(i);
    const bool chroma = i > 0 && format->packing == Packing::semiplanar;
    const int sx = chroma || format->packing == Packing::packed_422 ? format->shift_x : 0;
    const int sy = chroma ? format->shift_y : 0;
    const uint32_t left = region.left >> sx;
    const uint32_t top = region.top >> sy;
    plane.data += top * plane.stride + size_t{left} * plane.channels;
    plane.width = shifted_up(region.left + region.width, sx) - left;
    plane.height = shifted_up(region.top + region.height, sy) - top;
    list.push_back(plane);
  }
  return list;
}

size_t picture_bytes(const Format& format, uint32_t width_stride, uint32_t height_stride) {
  const size_t first = size_t{width_stride} * height_stride;
  if (format.packing == Packing::planar) return 3 * first;
  if (format.packing != Packing::semiplanar || format.family == Family::grey) return first;
  return first + chroma_stride(format, width_stride) * shifted_up(height_stride, format.shift_y);
}

void repeat_edges(const Picture& part, const Picture& whole) {
  if (part.width == whole.width && part.height == whole.height) return;
  for (int i = 0; i < whole.planes(); ++i) {
    const Plane from = part.plane(i), to = whole.plane(i);
    const size_t sample = from.channels;
    for (uint32_t y = 0; y < from.height; ++y) {
      const uint8_t* last = from.row(y) + (from.width - 1) * sample;
      for (uint32_t x = from.width; x < to.width; ++x)
        std::memcpy(to.row(y) + x * sample, last, sample);
    }
    for (uint32_t y = from.height; y < to.height; ++y)
      std::memcpy(to.row(y), to.row(from.height - 1), to.width * sample);
  }
}

void note_picture_in_between(size_t bytes) {
  static constinit trace::StaticName name("picture in between");
  if (trace::enabled(trace::Category::media))
    trace::instant(trace::Category::media, name.id(), 0, bytes);
}

OwnPicture::OwnPicture(const Format& format, uint32_t width, uint32_t height) {
  const uint32_t pixels = round_up(width, 16);
  picture_ = {&format, nullptr, width, height, pixels * format.bytes, round_up(height, 2)};
  bytes_.resize(picture_bytes(format, picture_.width_stride, picture_.height_stride));
  picture_.data = bytes_.data();
  note_picture_in_between(bytes_.size());
}

}  // namespace anynpu::pixel
