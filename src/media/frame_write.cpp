// SPDX-License-Identifier: Apache-2.0
// Decoded pictures into the memory of programs.
#include <cstring>

#include "media/decode_session.h"
#include "pixel/chroma.h"
#include "pixel/color.h"

namespace anynpu::media {
namespace {

using pixel::Picture;

// One row of samples, eight bits each.
void copy_samples(const DecodedFrame& frame, int plane, uint32_t y, uint32_t n, uint8_t* to) {
  const uint8_t* row = frame.plane[plane] + y * frame.stride[plane];
  if (frame.bit_depth == 8) {
    std::memcpy(to, row, n);
    return;
  }
  const int shift = static_cast<int>(frame.bit_depth) - 8;
  const auto* wide = reinterpret_cast<const uint16_t*>(row);
  for (uint32_t x = 0; x < n; ++x) to[x] = static_cast<uint8_t>(wide[x] >> shift);
}

void write_chroma(const DecodedFrame& frame, const Picture& to) {
  const pixel::Plane plane = to.plane(1);
  if (frame.plane[1] == nullptr) {
    for (uint32_t y = 0; y < plane.height; ++y) std::memset(plane.row(y), 128, plane.width * 2);
    return;
  }
  std::vector<uint8_t> lines[2];
  const bool wide = frame.bit_depth > 8;
  for (auto& line : lines) line.resize(wide ? plane.width : 0);
  const uint32_t u = to.format->at[1];
  for (uint32_t y = 0; y < plane.height; ++y) {
    const uint8_t* rows[2];
    for (int c = 0; c < 2; ++c) {
      rows[c] = frame.plane[c + 1] + y * frame.stride[c + 1];
      if (wide) {
        copy_samples(frame, c + 1, y, plane.width, lines[c].data());
        rows[c] = lines[c].data();
      }
    }
    const uint8_t* a = rows[u == 0 ? 0 : 1];
    const uint8_t* b = rows[u == 0 ? 1 : 0];
    pixel::interleave(a, b, plane.width, plane.row(y));
  }
}

// The layout that has the frame's own chroma.
int32_t layout_of(const DecodedFrame& frame) {
  if (frame.plane[1] == nullptr) return pixel::kYuv400;
  if (frame.shift_x == 1) return frame.shift_y == 1 ? pixel::kNv12 : pixel::kYuv422sp;
  return frame.shift_y == 1 ? pixel::kYuv440sp : pixel::kYuv444sp;
}

void write_as_it_is(const DecodedFrame& frame, const Picture& to) {
  for (uint32_t y = 0; y < frame.height; ++y)
    copy_samples(frame, 0, y, frame.width, to.plane(0).row(y));
  if (to.format->family == pixel::Family::yuv) write_chroma(frame, to);
}

}  // namespace

Result<CheckedPicture> place_frame(const DecodedFrame& frame, PictureSpec* spec) {
  spec->width = frame.width;
  spec->height = frame.height;
  ANYNPU_ASSIGN(const pixel::Format* format, check_format(spec->format, kVdecRules, "output"));
  if (spec->width_stride == 0)
    spec->width_stride = least_width_stride(*format, frame.width, kVdecRules);
  if (spec->height_stride == 0)
    spec->height_stride = aligned_up(frame.height, kVdecRules.height_multiple);
  return check_picture(*spec, kVdecRules, "output", device::Access::write);
}

Status write_frame(const DecodedFrame& frame, const Picture& to, const pixel::ColorMatrix& matrix) {
  const pixel::Format& own = *pixel::find_format(layout_of(frame));
  const bool direct = to.format->packing == pixel::Packing::semiplanar &&
                      (to.format->family == pixel::Family::grey ||
                       (frame.plane[1] == nullptr ? to.format->family == pixel::Family::yuv
                                                  : to.format->shift_x == own.shift_x &&
                                                        to.format->shift_y == own.shift_y));
  if (direct) {
    write_as_it_is(frame, to);
    return {};
  }
  const pixel::OwnPicture picture(own, frame.width, frame.height);
  write_as_it_is(frame, picture.view());
  pixel::convert(picture.view(), to, matrix);
  return {};
}

}  // namespace anynpu::media
