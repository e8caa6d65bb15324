// SPDX-License-Identifier: Apache-2.0
// Filters, flips and rotations of pictures: parameters are checked, the work is added to a job.
#pragma once

#include <span>

#include "pixel/filter.h"
#include "service/media/vpc_regions.h"

namespace anynpu::media {

struct PicturePair {
  PictureSpec from, to;
};

// The neighbourhood of a sample; an anchor of -1 is the middle.
struct KernelSpec {
  uint32_t width = 0, height = 0;
  int32_t anchor_x = -1, anchor_y = -1;
};

enum class MorphShape : int32_t { rectangle, cross, ellipse };
struct MorphSpec {
  KernelSpec kernel;
  int32_t shape = 0;  // of MorphShape
  uint32_t iterations = 0;
  BorderSpec border;
};

// The mean of each neighbourhood.
Status add_blur(VpcJob& job, const PicturePair& pair, const KernelSpec& kernel,
                const BorderSpec& border);
// A sigma of 0 is chosen by the size of the kernel.
struct GaussianSpec {
  KernelSpec kernel;
  double sigma_x = 0, sigma_y = 0;
  BorderSpec border;
};
Status add_gaussian_blur(VpcJob& job, const PicturePair& pair, const GaussianSpec& blur);
// Weights of the program: rows of five, of which the kernel takes the first ones. At most 5x5.
struct FilterSpec {
  KernelSpec kernel;
  double weights[5][5] = {};
  double delta = 0;
  BorderSpec border;
};
Status add_filter(VpcJob& job, const PicturePair& pair, const FilterSpec& filter);
// `side` is odd, 3 to 31.
Status add_median_blur(VpcJob& job, const PicturePair& pair, uint32_t side);
// The maximum (dilate) or minimum (erode) of each neighbourhood, several times.
Status add_morph(VpcJob& job, const PicturePair& pair, const MorphSpec& morph, pixel::Rank rank);
// `mode` of pixel::Mirror.
Status add_flip(VpcJob& job, const PicturePair& pair, int32_t mode);
// `turn`: 0 is 90 degrees, 1 is 180, 2 is 270.
Status add_rotation(VpcJob& job, const PicturePair& pair, int32_t turn);

}  // namespace anynpu::media
