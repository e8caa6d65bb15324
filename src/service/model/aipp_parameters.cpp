// SPDX-License-Identifier: Apache-2.0
#include "service/model/aipp_parameters.h"

#include <algorithm>
#include <cmath>

namespace anynpu::service {

namespace {

Status check_picture_count(uint64_t count) {
  if (count >= 1 && count <= ops::kMostAippPictures) return {};
  return fail(Code::invalid_argument, "batchSize is {}; expected 1 to {}", count,
              ops::kMostAippPictures);
}

Status check_switch(int8_t value, const char* name) {
  if (value == 0 || value == 1) return {};
  return fail(Code::invalid_argument, "{} is {}; expected 0 or 1", name, static_cast<int>(value));
}

Status check_within(int64_t value, int64_t low, int64_t high, const char* name) {
  if (value >= low && value <= high) return {};
  return fail(Code::invalid_argument, "{} is {}; expected {} to {}", name, value, low, high);
}

Status check_half_floats(const std::array<float, 4>& values, const char* name) {
  for (float value : values) {
    if (std::isfinite(value) && std::abs(value) <= 65504) continue;
    return fail(Code::invalid_argument, "{} has the value {}; expected -65504 to 65504", name,
                value);
  }
  return {};
}

}  // namespace

AippParameters::AippParameters(size_t pictures) {
  values_.header.batches = static_cast<int8_t>(pictures);
  values_.pictures.resize(pictures);
  for (ops::AippBatch& picture : values_.pictures) {
    for (size_t i = 0; i < 4; ++i) picture.set_variance(i, 1);
  }
}

Result<std::shared_ptr<AippParameters>> AippParameters::create(uint64_t pictures) {
  ANYNPU_TRY(check_picture_count(pictures));
  return std::shared_ptr<AippParameters>(new AippParameters(pictures));
}

Result<size_t> AippParameters::bytes_of(uint64_t pictures) {
  ANYNPU_TRY(check_picture_count(pictures));
  return ops::aipp_bytes(pictures);
}

Status AippParameters::set_format(int format) {
  const bool known =
      format > 0 && format < 256 && ops::channels_of(static_cast<ops::AippFormat>(format)) > 0;
  if (!known) {
    return fail(Code::invalid_argument, "inputFormat is {}; expected 1 to 4 or 7 to 10", format);
  }
  const std::lock_guard lock(mutex_);
  values_.header.format = static_cast<uint8_t>(format);
  return {};
}

Status AippParameters::set_color_conversion(const AippColorConversion& conversion) {
  ANYNPU_TRY(check_switch(conversion.on, "cscSwitch"));
  const std::lock_guard lock(mutex_);
  ops::AippHeader& header = values_.header;
  header.csc = conversion.on;
  std::copy(conversion.matrix.begin(), conversion.matrix.end(), header.matrix);
  std::copy(conversion.output_bias.begin(), conversion.output_bias.end(), header.output_bias);
  std::copy(conversion.input_bias.begin(), conversion.input_bias.end(), header.input_bias);
  return {};
}

Status AippParameters::set_rbuv_swap(int8_t on) {
  ANYNPU_TRY(check_switch(on, "rbuvSwapSwitch"));
  const std::lock_guard lock(mutex_);
  values_.header.rbuv_swap = on;
  return {};
}

Status AippParameters::set_ax_swap(int8_t on) {
  ANYNPU_TRY(check_switch(on, "axSwapSwitch"));
  const std::lock_guard lock(mutex_);
  values_.header.ax_swap = on;
  return {};
}

Status AippParameters::set_source_size(int32_t width, int32_t height) {
  ANYNPU_TRY(check_within(width, 2, 4096, "srcImageSizeW"));
  ANYNPU_TRY(check_within(height, 1, 4096, "srcImageSizeH"));
  const std::lock_guard lock(mutex_);
  values_.header.source_w = width;
  values_.header.source_h = height;
  return {};
}

template <typename Change>
Status AippParameters::change_picture(uint64_t picture, Change change) {
  const std::lock_guard lock(mutex_);
  const size_t count = values_.pictures.size();
  if (picture < count) return change(values_.pictures[picture]);
  return fail(Code::invalid_argument,
              "batchIndex is {}, the parameters are for {} pictures; expected 0 to {}", picture,
              count, count - 1);
}

Status AippParameters::set_scaling(uint64_t picture, const AippScaling& scaling) {
  return change_picture(picture, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_switch(scaling.on, "scfSwitch"));
    const int64_t low = scaling.on ? 1 : 0;
    ANYNPU_TRY(check_within(scaling.input_w, low, 4096, "scfInputSizeW"));
    ANYNPU_TRY(check_within(scaling.input_h, low, 4096, "scfInputSizeH"));
    ANYNPU_TRY(check_within(scaling.output_w, low, 4096, "scfOutputSizeW"));
    ANYNPU_TRY(check_within(scaling.output_h, low, 4096, "scfOutputSizeH"));
    batch.scale = scaling.on;
    batch.scale_in_w = scaling.input_w;
    batch.scale_in_h = scaling.input_h;
    batch.scale_out_w = scaling.output_w;
    batch.scale_out_h = scaling.output_h;
    return {};
  });
}

Status AippParameters::set_crop(uint64_t picture, const AippCrop& crop) {
  return change_picture(picture, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_switch(crop.on, "cropSwitch"));
    ANYNPU_TRY(check_within(crop.x, 0, 4095, "cropStartPosW"));
    ANYNPU_TRY(check_within(crop.y, 0, 4095, "cropStartPosH"));
    ANYNPU_TRY(check_within(crop.width, crop.on, 4096, "cropSizeW"));
    ANYNPU_TRY(check_within(crop.height, crop.on, 4096, "cropSizeH"));
    batch.crop = crop.on;
    batch.crop_x = crop.x;
    batch.crop_y = crop.y;
    batch.crop_w = crop.width;
    batch.crop_h = crop.height;
    return {};
  });
}

Status AippParameters::set_padding(uint64_t picture, const AippPadding& padding) {
  return change_picture(picture, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_switch(padding.on, "paddingSwitch"));
    ANYNPU_TRY(check_within(padding.top, 0, 32, "paddingSizeTop"));
    ANYNPU_TRY(check_within(padding.bottom, 0, 32, "paddingSizeBottom"));
    ANYNPU_TRY(check_within(padding.left, 0, 32, "paddingSizeLeft"));
    ANYNPU_TRY(check_within(padding.right, 0, 32, "paddingSizeRight"));
    batch.padding = padding.on;
    batch.pad_top = padding.top;
    batch.pad_bottom = padding.bottom;
    batch.pad_left = padding.left;
    batch.pad_right = padding.right;
    return {};
  });
}

Status AippParameters::set_mean(uint64_t picture, const std::array<int16_t, 4>& mean) {
  return change_picture(picture, [&](ops::AippBatch& batch) -> Status {
    std::copy(mean.begin(), mean.end(), batch.mean);
    return {};
  });
}

Status AippParameters::set_minimum(uint64_t picture, const std::array<float, 4>& minimum) {
  return change_picture(picture, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_half_floats(minimum, "dtcPixelMin"));
    for (size_t i = 0; i < 4; ++i) batch.set_min(i, minimum[i]);
    return {};
  });
}

Status AippParameters::set_variance(uint64_t picture, const std::array<float, 4>& variance) {
  return change_picture(picture, [&](ops::AippBatch& batch) -> Status {
    ANYNPU_TRY(check_half_floats(variance, "dtcPixelVarReci"));
    for (size_t i = 0; i < 4; ++i) batch.set_variance(i, variance[i]);
    return {};
  });
}

}  // namespace anynpu::service
