// SPDX-License-Identifier: Apache-2.0
#include "ops/aipp/params.h"

namespace anynpu::ops {

namespace {

constexpr float kRest = 2048;  // a half float has 11 bits

void split(float value, F16& main, F16& rest) {
  main = to_f16(value);
  const float lacks = value - to_float(main);
  rest = to_f16(lacks * kRest);
}

}  // namespace

int64_t picture_bytes(AippFormat format, int64_t width, int64_t height) {
  if (width < 1 || height < 1) return 0;
  const int64_t pixels = width * height;
  switch (format) {
    case AippFormat::yuv420sp:
      return pixels * 3 / 2;
    case AippFormat::xrgb8888:
    case AippFormat::argb8888:
    case AippFormat::ayuv444:
      return pixels * 4;
    case AippFormat::rgb888:
      return pixels * 3;
    case AippFormat::yuv400:
      return pixels;
    case AippFormat::yuyv:
    case AippFormat::yuv422sp:
      return pixels * 2;
    default:
      return 0;
  }
}

int channels_of(AippFormat format) {
  switch (format) {
    case AippFormat::xrgb8888:
    case AippFormat::argb8888:
    case AippFormat::ayuv444:
      return 4;
    case AippFormat::yuv420sp:
    case AippFormat::rgb888:
    case AippFormat::yuyv:
    case AippFormat::yuv422sp:
      return 3;
    case AippFormat::yuv400:
      return 1;
    default:
      return 0;
  }
}

bool is_yuv(AippFormat format) {
  return format != AippFormat::xrgb8888 && format != AippFormat::argb8888 &&
         format != AippFormat::rgb888;
}

void AippBatch::set_min(size_t channel, float value) {
  split(value, min[channel], min_rest[channel]);
}
void AippBatch::set_variance(size_t channel, float value) {
  split(value, variance[channel], variance_rest[channel]);
}
float AippBatch::min_of(size_t channel) const {
  return to_float(min[channel]) + to_float(min_rest[channel]) / kRest;
}
float AippBatch::variance_of(size_t channel) const {
  return to_float(variance[channel]) + to_float(variance_rest[channel]) / kRest;
}

Status check_aipp(const AippHeader& header, const AippBatch& batch, int64_t channels,
                  int64_t height, int64_t width) {
  const auto format = static_cast<AippFormat>(header.format);
  const int64_t source_w = header.source_w, source_h = header.source_h;
  if (channels_of(format) == 0) {
    return fail(Code::invalid_config,
                "AIPP: the input format {} is not supported; expected 1 to 4 "
                "or 7 to 10",
                header.format);
  }
  if (source_w < 1 || source_h < 1 || source_w > 4096 || source_h > 4096) {
    return fail(Code::invalid_config,
                "AIPP: the source image is {}x{} (width x height); expected 1 to 4096 each, and "
                "the size must be set",
                source_w, source_h);
  }
  const bool halved = format == AippFormat::yuv420sp;
  const bool pairs = halved || format == AippFormat::yuyv || format == AippFormat::yuv422sp;
  if ((pairs && source_w % 2 != 0) || (halved && source_h % 2 != 0)) {
    return fail(Code::invalid_config,
                "AIPP: the source image is {}x{}; this format needs even numbers", source_w,
                source_h);
  }
  if (channels > channels_of(format) || channels < 1) {
    return fail(Code::invalid_config, "AIPP: the model's input has {} channels, the format has {}",
                channels, channels_of(format));
  }
  int64_t inner_w = source_w, inner_h = source_h;
  if (batch.crop) {
    if (batch.crop_x < 0 || batch.crop_y < 0 || batch.crop_w < 1 || batch.crop_h < 1 ||
        int64_t{batch.crop_x} + batch.crop_w > source_w ||
        int64_t{batch.crop_y} + batch.crop_h > source_h) {
      return fail(Code::invalid_config,
                  "AIPP: the crop of {}x{} from ({}, {}) is not inside the source image of {}x{}",
                  batch.crop_w, batch.crop_h, batch.crop_x, batch.crop_y, source_w, source_h);
    }
    if ((pairs && batch.crop_x % 2 != 0) || (halved && batch.crop_y % 2 != 0)) {
      return fail(Code::invalid_config,
                  "AIPP: the crop starts at ({}, {}); this format needs even numbers", batch.crop_x,
                  batch.crop_y);
    }
    inner_w = batch.crop_w;
    inner_h = batch.crop_h;
  }
  if (batch.scale) {
    if (batch.scale_in_w != inner_w || batch.scale_in_h != inner_h || batch.scale_out_w < 1 ||
        batch.scale_out_h < 1) {
      return fail(Code::invalid_config,
                  "AIPP: scaling takes {}x{} to {}x{}, the picture in front of it is {}x{}",
                  batch.scale_in_w, batch.scale_in_h, batch.scale_out_w, batch.scale_out_h, inner_w,
                  inner_h);
    }
    inner_w = batch.scale_out_w;
    inner_h = batch.scale_out_h;
  }
  if (batch.padding) {
    for (int32_t size : {batch.pad_left, batch.pad_right, batch.pad_top, batch.pad_bottom}) {
      if (size < 0 || size > 32) {
        return fail(Code::invalid_config, "AIPP: a padding of {}; expected 0 to 32", size);
      }
    }
    inner_w += batch.pad_left + batch.pad_right;
    inner_h += batch.pad_top + batch.pad_bottom;
  }
  if (inner_w == width && inner_h == height) return {};
  return fail(Code::invalid_config,
              "AIPP: a picture of {}x{} (width x height) comes out, the model's input is {}x{}; "
              "make source size, crop and padding agree with it",
              inner_w, inner_h, width, height);
}

}  // namespace anynpu::ops
