// SPDX-License-Identifier: Apache-2.0
// Header information of JPEG and PNG files in memory of programs, and the picture they decode
// to.
#pragma once

#include "media/image.h"

namespace anynpu::media {

enum class ImageType : uint8_t { jpeg, png };

struct ImageDescription {
  ImageType type = ImageType::jpeg;
  PictureSpec picture;  // with the strides the decoder chooses; its `bytes` are what it takes
  JpegSampling sampling = JpegSampling::unknown;  // of JPEG
  int32_t color_type = 0;                         // of PNG, as the file says
};

// `format` is the layout of the output; kUnknown for the one that fits the file.
Result<ImageDescription> describe_image(ImageType type, const void* file, size_t bytes,
                                        int32_t format = pixel::kUnknown);

}  // namespace anynpu::media
