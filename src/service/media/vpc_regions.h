// SPDX-License-Identifier: Apache-2.0
// Crop, scale and paste of regions: the program's parameters are checked and added to a job.
#pragma once

#include <optional>
#include <span>

#include "service/media/vpc_job.h"

namespace anynpu::media {

// A colour around a region, as programs give it.
struct BorderSpec {
  int32_t kind = 0;  // of pixel::BorderKind
  double value[4] = {};
};
// Fails for kinds and values out of range.
Result<pixel::Border> check_border(const BorderSpec& border);

struct RegionSpec {
  struct Area {
    uint32_t left = 0, top = 0, width = 0, height = 0;
  };
  PictureSpec to;
  Area crop;
  std::optional<VpcJob::Scale> first;   // scaled to this size before
  std::optional<VpcJob::Scale> resize;  // then to this; a side of 0 is that of the output
  uint32_t left = 0, top = 0;           // where the region is pasted
  std::optional<BorderSpec> border;
};

inline constexpr uint32_t kMostRegions = 256;
// 1 to kMostRegions.
Status check_region_count(uint32_t count);

// Several regions of one picture. A failure names the region.
Status add_regions(VpcJob& job, const PictureSpec& from, std::span<const RegionSpec> regions);
// The whole picture, scaled to the size of the output.
Status add_resize(VpcJob& job, const PictureSpec& from, const PictureSpec& to,
                  uint32_t interpolation);
// The picture at left, top of the output with a border around it.
Status add_bordered(VpcJob& job, const PictureSpec& from, const PictureSpec& to, uint32_t left,
                    uint32_t top, const BorderSpec& border);
// The output is NV12 or NV21.
Status add_yuv420_conversion(VpcJob& job, const PictureSpec& from, const PictureSpec& to);
// `alpha` of outputs that have one; 0 to 255.
Status add_alpha_conversion(VpcJob& job, const PictureSpec& from, const PictureSpec& to,
                            uint32_t alpha);

// Levels of a pyramid, each half of the one before; `filter` are 25 weights of the program's
// memory, null for a Gaussian.
struct PyramidSpec {
  std::span<const PictureSpec> levels;
  const void* filter = nullptr;
  uint16_t divisor = 0;
  BorderSpec border;
};
inline constexpr uint32_t kMostLevels = 8;
Status check_level_count(uint32_t count);
Status add_pyramid(VpcJob& job, const PictureSpec& from, const PyramidSpec& pyramid);

// Counts values into memory of the program: three tables of 256 counts of 32 bits.
Status add_histogram(VpcJob& job, const PictureSpec& from, void* counts);

}  // namespace anynpu::media
