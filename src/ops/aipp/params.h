// SPDX-License-Identifier: Apache-2.0
// The parameters of AIPP in memory: one header, then one block per picture of the batch (static
// AIPP: one block for all). The layout is the documented one; its reserved bytes hold the parts of
// min and 1/variance that do not fit a half float, and the padding value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/half.h"

namespace anynpu::ops {

enum class AippFormat : uint8_t {
  none = 0,
  yuv420sp = 1,
  xrgb8888 = 2,
  rgb888 = 3,
  yuv400 = 4,
  argb8888 = 7,
  yuyv = 8,
  yuv422sp = 9,
  ayuv444 = 10,
};

// The most pictures of dynamic AIPP: their count is a signed byte.
constexpr size_t kMostAippPictures = 127;
// The most channels of any format.
constexpr int64_t kMostAippChannels = 4;
// Of all pictures of an execution.
constexpr int64_t kMostAippBytes = (int64_t{1} << 40) - 1;

// Bytes of a picture; 0 for a format that is not known or a size below 1.
int64_t picture_bytes(AippFormat format, int64_t width, int64_t height);
// Channels the format has; 0 when it is not known.
int channels_of(AippFormat format);
bool is_yuv(AippFormat format);

struct AippHeader {
  uint8_t format = 0;
  int8_t csc = 0;
  int8_t rbuv_swap = 0;
  int8_t ax_swap = 0;
  int8_t batches = 0;
  int8_t reserved1[3] = {};
  int32_t source_w = 0;
  int32_t source_h = 0;
  int16_t matrix[9] = {};
  int16_t reserved2[3] = {};
  uint8_t output_bias[3] = {};
  uint8_t input_bias[3] = {};
  int8_t reserved3[2] = {};
  float padding_value = 0;
  int8_t reserved4[12] = {};
};
static_assert(sizeof(AippHeader) == 64);

struct AippBatch {
  int8_t crop = 0;
  int8_t scale = 0;
  int8_t padding = 0;
  int8_t rotate = 0;
  int8_t reserved1[4] = {};
  int32_t crop_x = 0, crop_y = 0, crop_w = 0, crop_h = 0;
  int32_t scale_in_w = 0, scale_in_h = 0, scale_out_w = 0, scale_out_h = 0;
  int32_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  int16_t mean[4] = {};
  F16 min[4] = {};
  F16 variance[4] = {};  // 1 / variance
  F16 min_rest[4] = {};  // what min and variance lack, times 2048
  F16 variance_rest[4] = {};

  void set_min(size_t channel, float value);
  void set_variance(size_t channel, float value);
  float min_of(size_t channel) const;
  float variance_of(size_t channel) const;
};
static_assert(sizeof(AippBatch) == 96);

constexpr size_t aipp_bytes(size_t batches) {
  return sizeof(AippHeader) + batches * sizeof(AippBatch);
}

// A picture of the model's batch: `batch` against the header and the size that must come out.
// Fails with a sentence that names the numbers.
Status check_aipp(const AippHeader& header, const AippBatch& batch, int64_t channels,
                  int64_t height, int64_t width);

}  // namespace anynpu::ops
