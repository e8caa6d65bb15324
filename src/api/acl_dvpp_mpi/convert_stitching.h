// SPDX-License-Identifier: Apache-2.0
// Conversion of the vendor's structs for surround view. No other file reads their fields.
#pragma once

#include <vector>

#include "acl/dvpp/hi_dvpp.h"
#include "service/media/stitching.h"

namespace anynpu::mpi {

Result<media::StitchSpec> stitching_of(const hi_roundview_stitching_param& param);

struct StitchedPictures {
  std::vector<media::PictureSpec> from;
  media::PictureSpec to;
};
Result<StitchedPictures> stitched_pictures_of(const hi_roundview_stitching_pic_param* param);

}  // namespace anynpu::mpi
