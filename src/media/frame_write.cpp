// SPDX-License-Identifier: Apache-2.0
// Decoded pictures into the memory of programs.
#include <cstring>

#include "base/align.h"
#include "media/decode_session.h"
#include "pixel/chroma.h"
#include "pixel/transform.h"

namespace anynpu::media {
namespace {

using pixel::Picture;

void write_chroma(const DecodedFrame& frame, const Picture& to) {
  const pixel::Plane plane = to.plane(1);
  const bool pairs = frame.plane[2] == nullptr;
  const bool swapped = to.format->at[1] != 0;
  for (uint32_t y = 0; y < plane.height; ++y) {
    const uint8_t* u = frame.plane[1] + y * frame.stride[1];
    const uint8_t* v = pairs ? u + 1 : frame.plane[2] + y * frame.stride[2];
    uint8_t* row = plane.row(y);
    if (!pairs) {
      pixel::interleave(swapped ? v : u, swapped ? u : v, plane.width, row);
    } else if (!swapped) {
      std::memcpy(row, u, size_t{plane.width} * 2);
    } else {
      for (uint32_t x = 0; x < plane.width; ++x) {
        row[2 * x] = v[2 * x];
        row[2 * x + 1] = u[2 * x];
      }
    }
  }
}

void write_as_it_is(const DecodedFrame& frame, const Picture& to) {
  for (uint32_t y = 0; y < frame.height; ++y)
    std::memcpy(to.plane(0).row(y), frame.plane[0] + y * frame.stride[0], frame.width);
  if (to.format->family == pixel::Family::yuv) write_chroma(frame, to);
}

}  // namespace

Result<CheckedPicture> place_frame(const DecodedFrame& frame, PictureSpec* spec, PlaceSize size) {
  if (size == PlaceSize::of_frame || spec->width == 0 || spec->height == 0) {
    spec->width = frame.width;
    spec->height = frame.height;
  }
  ANYNPU_ASSIGN(const pixel::Format* format, check_format(spec->format, kVdecRules, "output"));
  if (spec->width_stride == 0)
    spec->width_stride = least_width_stride(*format, spec->width, kVdecRules);
  if (spec->height_stride == 0)
    spec->height_stride = round_up(spec->height, kVdecRules.height_multiple);
  return check_picture(*spec, kVdecRules, "output", device::Access::write);
}

Status write_frame(const DecodedFrame& frame, const Picture& to, const pixel::ColorMatrix& matrix) {
  const bool scaled = to.width != frame.width || to.height != frame.height;
  if (!scaled && to.format->packing == pixel::Packing::semiplanar) {
    write_as_it_is(frame, to);
    return {};
  }
  const pixel::OwnPicture picture(*pixel::find_format(pixel::kNv12), frame.width, frame.height);
  write_as_it_is(frame, picture.view());
  pixel::transform({picture.view(), picture.view().all(), to, to.all(),
                    pixel::Interpolation::bilinear, &matrix});
  return {};
}

}  // namespace anynpu::media
