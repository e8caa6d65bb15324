// SPDX-License-Identifier: Apache-2.0
#include "media/image.h"

#include "base/align.h"
#include "base/log.h"
#include "pixel/transform.h"

namespace anynpu::media {
namespace {

using pixel::find_format;
using pixel::Format;
using pixel::Picture;

constexpr uint32_t kOwnWidth = 128;  // strides where the program gives none
constexpr uint32_t kOwnHeight = 16;

Status check_limits(uint32_t width, uint32_t height, const Rules& rules) {
  if (width >= rules.least_width && height >= rules.least_height && width <= rules.most_width &&
      height <= rules.most_height)
    return {};
  return fail(Code::invalid_argument, "the picture has {}x{} pixels; {} takes {}x{} to {}x{}",
              width, height, rules.unit, rules.least_width, rules.least_height, rules.most_width,
              rules.most_height);
}

// A side as a program may describe it: the file's, or that rounded up as the units align it.
bool describes(uint32_t stated, uint32_t side) {
  for (const uint32_t multiple : {1u, 2u, 16u, 64u, 128u})
    if (stated == round_up(side, multiple)) return true;
  return stated == 0;
}

// The size that the program stated; the file's where it left it open.
Status take_size(uint32_t width, uint32_t height, PictureSpec* spec) {
  if (!describes(spec->width, width) || !describes(spec->height, height)) {
    return fail(Code::invalid_argument,
                "the output is described as {}x{}; the picture in the file has {}x{}: expected "
                "that, each side rounded up to a multiple of 2, 16, 64 or 128, or 0",
                spec->width, spec->height, width, height);
  }
  if (spec->width == 0) spec->width = width;
  if (spec->height == 0) spec->height = height;
  return {};
}

// Where the picture of the file goes: the left upper part of the output.
Picture part_for(const Picture& to, uint32_t width, uint32_t height) {
  Picture part = to;
  part.width = width;
  part.height = height;
  return part;
}

void take_strides(const Format& format, PictureSpec* spec, uint32_t wide, uint32_t high) {
  if (spec->width_stride == 0) spec->width_stride = round_up(spec->width, wide) * format.bytes;
  if (spec->height_stride == 0) spec->height_stride = round_up(spec->height, high);
}

// The layout a file decodes to when the program asks for `wanted`, ours where it has no own wish.
int32_t layout_for(const JpegInfo& info, int32_t wanted) {
  if (wanted != pixel::kUnknown) return wanted;
  return info.layout == pixel::kYuv444 ? pixel::kYuv444sp : info.layout;
}

}  // namespace

Result<JpegInfo> jpeg_info(Bytes file) {
  ANYNPU_ASSIGN(const ImageCodec* codec, image_codec());
  ANYNPU_ASSIGN(const JpegInfo info, codec->jpeg_info(file));
  ANYNPU_TRY(check_limits(info.width, info.height, kJpegdRules));
  return info;
}

Result<PngInfo> png_info(Bytes file) {
  ANYNPU_ASSIGN(const ImageCodec* codec, image_codec());
  ANYNPU_ASSIGN(const PngInfo info, codec->png_info(file));
  ANYNPU_TRY(check_limits(info.width, info.height, kPngdRules));
  return info;
}

Status complete_jpeg_output(const JpegInfo& info, PictureSpec* spec, OtherSize other) {
  spec->format = layout_for(info, spec->format);
  ANYNPU_ASSIGN(const Format* format, check_format(spec->format, kJpegdRules, "output"));
  if (other == OtherSize::refused || spec->width == 0 || spec->height == 0)
    ANYNPU_TRY(take_size(info.width, info.height, spec));
  take_strides(*format, spec, kOwnWidth, kOwnHeight);
  return {};
}

Status complete_png_output(const PngInfo& info, PictureSpec* spec) {
  if (spec->format == pixel::kUnknown)
    spec->format = info.components % 2 ? pixel::kRgb888 : pixel::kRgba8888;
  ANYNPU_ASSIGN(const Format* format, check_format(spec->format, kPngdRules, "output"));
  ANYNPU_TRY(take_size(info.width, info.height, spec));
  take_strides(*format, spec, kOwnWidth, kOwnHeight);
  return {};
}

Result<uint32_t> jpeg_decoded_bytes(const JpegInfo& info, int32_t format) {
  PictureSpec spec;
  spec.format = format;
  ANYNPU_TRY(complete_jpeg_output(info, &spec));
  return static_cast<uint32_t>(
      pixel::picture_bytes(*find_format(spec.format), spec.width_stride, spec.height_stride));
}

Result<uint32_t> png_decoded_bytes(const PngInfo& info, int32_t format) {
  PictureSpec spec;
  spec.format = format;
  ANYNPU_TRY(complete_png_output(info, &spec));
  return static_cast<uint32_t>(
      pixel::picture_bytes(*find_format(spec.format), spec.width_stride, spec.height_stride));
}

Status decode_jpeg(Bytes file, const JpegInfo& info, const Picture& to,
                   const pixel::ColorMatrix& matrix, uint8_t alpha) {
  ANYNPU_ASSIGN(const ImageCodec* codec, image_codec());
  if (info.progressive)
    ANYNPU_LOG(info, "JPEG decoder: the file is progressive; some chips refuse such files");
  const Format& source = *find_format(info.layout);
  const Format& target = *to.format;
  const bool twins = source.packing == target.packing && source.family == target.family &&
                     source.shift_x == target.shift_x && source.shift_y == target.shift_y &&
                     source.packing == pixel::Packing::semiplanar;
  const bool scaled = !describes(to.width, info.width) || !describes(to.height, info.height);
  const Picture part = scaled ? to : part_for(to, info.width, info.height);
  if (!scaled && (&source == &target || twins)) {
    ANYNPU_TRY(codec->decode_jpeg(file, part));
  } else {
    const pixel::OwnPicture own(source, info.width, info.height);
    ANYNPU_TRY(codec->decode_jpeg(file, own.view()));
    pixel::transform({own.view(), own.view().all(), part, part.all(),
                      pixel::Interpolation::bilinear, &matrix, alpha});
  }
  pixel::repeat_edges(part, to);
  return {};
}

Status decode_png(Bytes file, const Picture& to) {
  ANYNPU_ASSIGN(const ImageCodec* codec, image_codec());
  ANYNPU_ASSIGN(const PngInfo info, codec->png_info(file));
  const Picture part = part_for(to, info.width, info.height);
  ANYNPU_TRY(codec->decode_png(file, part));
  pixel::repeat_edges(part, to);
  return {};
}

Result<uint32_t> jpeg_encoded_bytes(const PictureSpec& from) {
  ANYNPU_TRY(check_format(from.format, kJpegeRules, "input").status());
  ANYNPU_TRY(check_limits(from.width, from.height, kJpegeRules));
  // A block of 64 samples takes at most 16 bits and a few for each of them; 2 KiB hold all tables.
  const uint64_t samples = uint64_t{round_up(from.width, 16)} * round_up(from.height, 16);
  return static_cast<uint32_t>(samples * 3 + 2048);
}

Result<size_t> encode_jpeg(const Picture& from, uint32_t level, const JpegTables& tables,
                           std::span<uint8_t> to) {
  ANYNPU_ASSIGN(const ImageCodec* codec, image_codec());
  const int quality = level == 0 ? 100 : static_cast<int>(level);
  if (from.format->packing != pixel::Packing::packed_422)
    return codec->encode_jpeg(from, quality, tables, to);
  const pixel::OwnPicture own(*find_format(pixel::kYuv422sp), from.width, from.height);
  pixel::convert(from, own.view(), pixel::color_matrix(0));
  return codec->encode_jpeg(own.view(), quality, tables, to);
}

}  // namespace anynpu::media
