// SPDX-License-Identifier: Apache-2.0
// Surround view from several pictures: a table gives for each output pixel two pictures, the
// positions in them and the weights. Before that, a function of the program may compute a lookup
// table (a gain) for each picture from the histograms.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "service/media/vpc_job.h"

namespace anynpu::media {

struct StitchEntry {  // as programs lay it out
  uint32_t picture1, picture2;
  float weight1, weight2;
  float x1, y1, x2, y2;  // in the pictures
};
static_assert(sizeof(StitchEntry) == 32);

struct StitchGain {
  const pixel::Histogram* histogram;  // of the picture
  pixel::Lookup* lookup;              // to be filled; keeps all values at first
};
// One for each picture; non-zero result: no gains are applied.
using ComputeGains = std::function<int32_t(std::span<const StitchGain> pictures)>;

struct StitchSpec {
  uint32_t source_width = 0, source_height = 0;
  uint32_t target_width = 0, target_height = 0;
  void* table = nullptr;
  uint32_t table_bytes = 0;
  ComputeGains gains;  // none: no gains
};

// Sizes, and a table with an entry for each pixel of the result.
Status check_stitching(const StitchSpec& spec);
// All pictures have one layout, which is not packed 4:2:2.
Status add_stitching(VpcJob& job, const StitchSpec& spec, std::span<const PictureSpec> from,
                     const PictureSpec& to);

}  // namespace anynpu::media
