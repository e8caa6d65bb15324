// SPDX-License-Identifier: Apache-2.0
// The parameters of dynamic AIPP, for all pictures of a batch and for each of them. What they mean
// for a model is in aipp.h. Guards itself; every setter checks its values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "ops/aipp/params.h"

namespace anynpu::service {

struct AippColorConversion {
  int8_t on = 0;
  std::array<int16_t, 9> matrix = {};
  std::array<uint8_t, 3> output_bias = {};
  std::array<uint8_t, 3> input_bias = {};
};
struct AippScaling {
  int8_t on = 0;
  int32_t input_w = 0, input_h = 0, output_w = 0, output_h = 0;
};
struct AippCrop {
  int8_t on = 0;
  int32_t x = 0, y = 0, width = 0, height = 0;
};
struct AippPadding {
  int8_t on = 0;
  int32_t top = 0, bottom = 0, left = 0, right = 0;
};

class AippParameters {
 public:
  // For `pictures` of a batch; fails when no batch has so many.
  static Result<std::shared_ptr<AippParameters>> create(uint64_t pictures);
  // Bytes of the input that takes the parameters of so many pictures.
  static Result<size_t> bytes_of(uint64_t pictures);

  // For the whole batch.
  Status set_format(int format);
  Status set_color_conversion(const AippColorConversion& conversion);
  Status set_rbuv_swap(int8_t on);
  Status set_ax_swap(int8_t on);
  Status set_source_size(int32_t width, int32_t height);
  // For one picture; they fail when there is no such picture.
  Status set_scaling(uint64_t picture, const AippScaling& scaling);
  Status set_crop(uint64_t picture, const AippCrop& crop);
  Status set_padding(uint64_t picture, const AippPadding& padding);
  Status set_mean(uint64_t picture, const std::array<int16_t, 4>& mean);
  Status set_minimum(uint64_t picture, const std::array<float, 4>& minimum);
  Status set_variance(uint64_t picture, const std::array<float, 4>& variance);

  struct Values {
    ops::AippHeader header;
    std::vector<ops::AippBatch> pictures;
  };
  // Calls `use` with all of them, while no other thread changes one.
  template <typename Use>
  Status read(Use use) const {
    const std::lock_guard lock(mutex_);
    return use(values_);
  }

 private:
  explicit AippParameters(size_t pictures);
  template <typename Change>
  Status change_picture(uint64_t picture, Change change);

  mutable std::mutex mutex_;
  Values values_;
};

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::AippParameters, aipp);
}
