// SPDX-License-Identifier: Apache-2.0
// Any bytes as a JPEG file: described, and decoded to its own layout, to NV12 and to RGB.
#include "linked_codecs.h"
#include "media/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  const media::Bytes file(data, size);
  const auto info = media::jpeg_info(file);
  if (!info.ok()) return 0;
  for (const int32_t format : {pixel::kUnknown, pixel::kNv12, pixel::kRgb888}) {
    media::PictureSpec spec;
    spec.format = format;
    if (!media::complete_jpeg_output(*info, &spec).ok()) continue;
    if (uint64_t{spec.width} * spec.height > media::kMostPixels) continue;
    const media::Target to(spec);
    (void)media::decode_jpeg(file, *info, to.picture(), pixel::color_matrix(0)).ok();
  }
  return 0;
}
