// SPDX-License-Identifier: Apache-2.0
#include "media/rules.h"

#include <string>

#include "base/align.h"

namespace anynpu::media {
namespace {

constexpr int32_t kPictures[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,    10,
                                 11, 12, 13, 14, 15, 16, 17, 69, 70, 1000, 1001};
constexpr int32_t kJpegOut[] = {0, 1, 2, 3, 4, 5, 6, 12, 13, 14, 15, 16, 17, 1000, 1001};
constexpr int32_t kJpegIn[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
constexpr int32_t kPngOut[] = {12, 16};
constexpr int32_t kVideoOut[] = {0, 1, 2, 12, 13};
constexpr int32_t kVideoIn[] = {1, 2};

Status violated(const char* role, std::string_view rule, uint32_t value, uint32_t multiple) {
  return fail(Code::invalid_argument, "{}: {} {} is not a multiple of {}", role, rule, value,
              multiple);
}

}  // namespace

//                     unit     layouts    least  most         stride  address
const Rules kVpcRules{"VPC", kPictures, 2, 2, 8192, 8192, 16, 2, 16};
const Rules kJpegdRules{"JPEGD", kJpegOut, 1, 1, 8192, 8192, 16, 2, 128};
const Rules kJpegeRules{"JPEGE", kJpegIn, 1, 1, 8192, 8192, 16, 1, 16};
const Rules kPngdRules{"PNGD", kPngOut, 1, 1, 8192, 8192, 1, 1, 128};
const Rules kVdecRules{"VDEC", kVideoOut, 2, 2, 8192, 8192, 16, 2, 16};
const Rules kVencRules{"VENC", kVideoIn, 16, 16, 8192, 8192, 1, 1, 1};

uint32_t least_width_stride(const pixel::Format& format, uint32_t width, const Rules& rules) {
  return round_up(width, rules.width_multiple) * format.bytes;
}

Result<const pixel::Format*> check_format(int32_t number, const Rules& rules, const char* role) {
  for (int32_t known : rules.formats) {
    if (known == number) return pixel::find_format(number);
  }
  std::string list;
  for (int32_t known : rules.formats) list += (list.empty() ? "" : ", ") + std::to_string(known);
  return fail(Code::invalid_argument,
              "{}: {} does not take the pixel format {}; expected one of {}", role, rules.unit,
              number, list);
}

Result<CheckedPicture> check_picture(const PictureSpec& spec, const Rules& rules, const char* role,
                                     device::Access access) {
  ANYNPU_ASSIGN(const pixel::Format* format, check_format(spec.format, rules, role));
  if (spec.width < rules.least_width || spec.height < rules.least_height ||
      spec.width > rules.most_width || spec.height > rules.most_height) {
    return fail(Code::invalid_argument, "{}: the picture is {}x{}; {} takes {}x{} to {}x{}", role,
                spec.width, spec.height, rules.unit, rules.least_width, rules.least_height,
                rules.most_width, rules.most_height);
  }
  const uint32_t multiple = rules.width_multiple;
  if (spec.width_stride % multiple)
    return violated(role, "width stride", spec.width_stride, multiple);
  if (spec.height_stride % rules.height_multiple)
    return violated(role, "height stride", spec.height_stride, rules.height_multiple);
  const uint32_t row = format->packing == pixel::Packing::packed_422 ? (spec.width + 1) / 2 * 4
                                                                     : spec.width * format->bytes;
  if (spec.width_stride < row || spec.width_stride > 64 * 8192) {
    return fail(Code::invalid_argument,
                "{}: width stride {} does not fit {} pixels of {}, which take {} bytes", role,
                spec.width_stride, spec.width, format->name, row);
  }
  if (spec.height_stride < spec.height || spec.height_stride > 4 * 8192) {
    return fail(Code::invalid_argument, "{}: height stride {} does not fit a height of {}", role,
                spec.height_stride, spec.height);
  }
  const size_t needed = pixel::picture_bytes(*format, spec.width_stride, spec.height_stride);
  if (spec.bytes < needed) {
    return fail(Code::invalid_argument,
                "{}: the size is {} bytes; {} with strides {} and {} takes {}", role, spec.bytes,
                format->name, spec.width_stride, spec.height_stride, needed);
  }
  if (reinterpret_cast<uintptr_t>(spec.data) % rules.address_multiple) {
    return fail(Code::unaligned_address, "{}: the address {} is not a multiple of {}", role,
                spec.data, rules.address_multiple);
  }
  ANYNPU_ASSIGN(auto memory, device::check_host_range(spec.data, needed, access, role));
  CheckedPicture out;
  out.view = {format,      memory.address,    spec.width,
              spec.height, spec.width_stride, spec.height_stride};
  out.memory = std::move(memory);
  return out;
}

Result<pixel::Rect> check_region(const Edges& e, const pixel::Picture& picture, const char* role) {
  if (e.right < e.left || e.bottom < e.top) {
    return fail(Code::invalid_argument,
                "{}: the region from {},{} to {},{} is empty; right and bottom belong to it", role,
                e.left, e.top, e.right, e.bottom);
  }
  if (e.right >= picture.width || e.bottom >= picture.height) {
    return fail(Code::invalid_argument,
                "{}: the region ends at {},{}; the picture has {}x{} pixels", role, e.right,
                e.bottom, picture.width, picture.height);
  }
  if (picture.format->shift_x && (e.left % 2 || e.right % 2 == 0)) {
    return fail(Code::invalid_argument,
                "{}: left is {} and right is {}; {} asks for an even left and an odd right", role,
                e.left, e.right, picture.format->name);
  }
  if (picture.format->shift_y && (e.top % 2 || e.bottom % 2 == 0)) {
    return fail(Code::invalid_argument,
                "{}: top is {} and bottom is {}; {} asks for an even top and an odd bottom", role,
                e.top, e.bottom, picture.format->name);
  }
  return pixel::Rect{e.left, e.top, e.right - e.left + 1, e.bottom - e.top + 1};
}

}  // namespace anynpu::media
