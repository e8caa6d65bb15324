// SPDX-License-Identifier: Apache-2.0
// The codecs, linked instead of opened as plug-ins; and what all media targets do with a file.
#pragma once

#include <cstdint>
#include <vector>

#include "media/image_codec.h"
#include "media/rules.h"
#include "media/video_codec.h"

namespace anynpu::media {

Result<const ImageCodec*> image_codec() { return anynpu_image_codec(); }
Result<VideoCodec*> video_codec() { return anynpu_video_codec(); }

// Larger ones only cost time.
inline constexpr uint64_t kMostPixels = 1 << 20;

// Memory for a picture, exactly as large as it has to be.
class Target {
 public:
  explicit Target(const PictureSpec& spec)
      : bytes_(pixel::picture_bytes(*pixel::find_format(spec.format), spec.width_stride,
                                    spec.height_stride)) {
    picture_ = {pixel::find_format(spec.format),
                bytes_.data(),
                spec.width,
                spec.height,
                spec.width_stride,
                spec.height_stride};
  }
  const pixel::Picture& picture() const { return picture_; }

 private:
  std::vector<uint8_t> bytes_;
  pixel::Picture picture_;
};

}  // namespace anynpu::media
